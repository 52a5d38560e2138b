//go:build unix

package store

import "syscall"

// nonblock opens pipes and devices without waiting; on regular files it means nothing.
const nonblock = syscall.O_NONBLOCK | syscall.O_NOCTTY
