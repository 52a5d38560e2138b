package jsonx

// skipValue passes over a value that spans lines and is too long to be kept. It
// follows brackets and strings only, and stops early at what no value can hold:
// a line feed in a string, or a line that opens a value where none may begin.
func (d *Decoder) skipValue() error {
	depth, inString, last := 0, false, byte(0)
	for {
		for d.pos < len(d.buf) {
			c := d.buf[d.pos]
			if inString {
				switch c {
				case '\\':
					if d.pos+1 == len(d.buf) && !d.eof {
						if err := d.fill(2); err != nil {
							return err
						}
					}
					if d.pos+1 < len(d.buf) && d.buf[d.pos+1] != '\n' {
						d.pos++
					}
				case '"':
					inString = false
				case '\n':
					d.endLine(d.pos + 1)
					return nil
				}
				d.pos++
				continue
			}
			switch c {
			case '\n':
				d.endLine(d.pos + 1)
				continue
			case ' ', '\t', '\r':
				d.pos++
				continue
			case '"':
				inString = true
			case '{', '[':
				if d.pos == d.start && (last == '}' || last == ']') {
					return nil
				}
				depth++
			case '}', ']':
				if depth--; depth <= 0 {
					d.pos++
					d.resync = false
					return nil
				}
			}
			last = c
			d.pos++
		}
		if d.eof {
			return nil
		}
		if err := d.fill(d.first); err != nil {
			return err
		}
	}
}
