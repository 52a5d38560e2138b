package owner

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// protocol is the number of the protocol. What is added without a change of meaning
// keeps it.
const protocol = 1

// An identity is how one process introduces itself to another, and what owner.json
// says.
type identity struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Host     string `json:"host"`
	Started  int64  `json:"started"`           // nanoseconds since 1970, to tell owners apart
	Socket   string `json:"socket,omitempty"`  // in owner.json
	Archive  string `json:"archive,omitempty"` // of an owner: the identity of the lock that it holds, see store.LockID
}

// The calls.
const (
	callSearch  = "search"
	callUnits   = "units"
	callRead    = "read"
	callRaw     = "raw"
	callStats   = "stats"
	callImport  = "import"
	callCheck   = "check"
	callRebuild = "rebuild"
)

// isLong says of which calls an owner that ends does not await the end.
func isLong(call string) bool { return call == callImport || call == callCheck || call == callRebuild }

// A request is one call. Text that people type is bytes here, because it need not be
// UTF-8.
type request struct {
	Call   string         `json:"call"`
	Search *searchRequest `json:"search,omitempty"`
	Units  *unitRequest   `json:"units,omitempty"`
	Import *importRequest `json:"import,omitempty"`
	Ref    []byte         `json:"ref,omitempty"`  // of read and raw
	Skip   int64          `json:"skip,omitempty"` // messages of read, bytes of raw, that the caller has
}

type searchRequest struct {
	Query  []byte `json:"query"`
	Lane   string `json:"lane"`
	Limit  int    `json:"limit"`
	Offset int    `json:"offset"`
	Cursor []byte `json:"cursor"`
	Zone   *zone  `json:"zone"`
}

func searchToWire(r engine.SearchRequest) *searchRequest {
	return &searchRequest{[]byte(r.Query), r.Lane, r.Limit, r.Offset, []byte(r.Cursor), zoneToWire(r.Zone)}
}

func (r *searchRequest) engine() engine.SearchRequest {
	return engine.SearchRequest{Query: string(r.Query), Lane: r.Lane, Limit: r.Limit, Offset: r.Offset, Cursor: string(r.Cursor), Zone: r.Zone.location()}
}

type unitRequest struct {
	Expression   []byte `json:"expression"`
	Limit        int    `json:"limit"`
	Offset       int    `json:"offset"`
	Continuation []byte `json:"continuation"`
	Zone         *zone  `json:"zone"`
}

func unitsToWire(r engine.UnitRequest) *unitRequest {
	return &unitRequest{[]byte(r.Expression), r.Limit, r.Offset, []byte(r.Continuation), zoneToWire(r.Zone)}
}

func (r *unitRequest) engine() engine.UnitRequest {
	return engine.UnitRequest{Expression: string(r.Expression), Limit: r.Limit, Offset: r.Offset, Continuation: string(r.Continuation), Zone: r.Zone.location()}
}

type importRequest struct {
	Home    []byte            `json:"home"`
	Env     map[string][]byte `json:"env"`
	Paths   [][]byte          `json:"paths"`
	Force   bool              `json:"force"`
	DropRaw bool              `json:"drop_raw"`
}

func importToWire(r engine.ImportRequest) *importRequest {
	w := &importRequest{Home: []byte(r.Home), Env: map[string][]byte{}, Force: r.Force, DropRaw: r.DropRaw}
	for k, v := range r.Env {
		w.Env[k] = []byte(v)
	}
	for _, p := range r.Paths {
		w.Paths = append(w.Paths, []byte(p))
	}
	return w
}

func (r *importRequest) engine() engine.ImportRequest {
	e := engine.ImportRequest{Home: string(r.Home), Env: map[string]string{}, Force: r.Force, DropRaw: r.DropRaw}
	for k, v := range r.Env {
		e.Env[k] = string(v)
	}
	for _, p := range r.Paths {
		e.Paths = append(e.Paths, string(p))
	}
	return e
}

// A zone is a time zone: one that the system knows by name, or else an offset.
type zone struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"` // seconds east of UTC, when the name is not known
}

func zoneToWire(l *time.Location) *zone {
	if l == nil {
		return nil
	}
	_, offset := time.Now().In(l).Zone()
	return &zone{l.String(), offset}
}

func (z *zone) location() *time.Location {
	if z == nil {
		return nil
	}
	if l, err := time.LoadLocation(z.Name); err == nil {
		return l
	}
	return time.FixedZone(z.Name, z.Offset)
}

// A messagePart is one message on its way. Tool inputs travel beside it, since JSON in
// JSON loses its spaces.
type messagePart struct {
	Row    *engine.MessageRow `json:"row"`
	Inputs map[int][]byte     `json:"inputs,omitempty"`
}

func messageToWire(m *engine.MessageRow) messagePart {
	p := messagePart{Row: m}
	for i := range m.Blocks {
		if in := m.Blocks[i].ToolInput; in != nil {
			if p.Inputs == nil {
				p.Inputs = map[int][]byte{}
			}
			p.Inputs[i], m.Blocks[i].ToolInput = in, nil
		}
	}
	return p
}

func (p messagePart) message() *engine.MessageRow {
	for i := range p.Row.Blocks {
		if in, ok := p.Inputs[i]; ok {
			p.Row.Blocks[i].ToolInput = in
		}
	}
	return p.Row
}

// headFromWire keeps the payload as it was written, since its type is not known here.
func headFromWire(b []byte) (engine.ReadingHead, error) {
	var raw json.RawMessage
	head := engine.ReadingHead{Payload: &raw}
	if err := json.Unmarshal(b, &head); err != nil {
		return head, err
	}
	head.Payload = nil
	if len(raw) > 0 && string(raw) != "null" {
		head.Payload = raw
	}
	return head, nil
}

// toJSON is the JSON of v with "<", ">" and "&" as they are.
func toJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
