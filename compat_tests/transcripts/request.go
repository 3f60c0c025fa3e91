package transcripts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// request is the message of a step, and how its answer is read.
type request struct {
	symbols *symbols
	version protocol.Version
	message protocol.Request
	params  *protocol.QueryParameters // of the message; nil if it has none
	flags   protocol.Flags
	payload []protocol.PayloadEntry
	stream  int16 // 0: the connection's next one
	wait    wait
	hidden  map[string]bool // columns whose values differ from run to run
}

// wait is how long a step waits: a number of answers, and possibly the end of the connection.
type wait struct {
	answers int
	closed  bool
	bytes   bool // the answer is not read as messages
}

// newRequest reads a step's message and settings. The message of RAW and ENVELOPE is nil.
func newRequest(st *Step, s *symbols, v protocol.Version) (*request, error) {
	q := &request{symbols: s, version: v, wait: wait{answers: 1}, hidden: map[string]bool{}}
	var err error
	if q.message, err = q.newMessage(st.Verb, s.statement(st.Text)); err != nil {
		return nil, err
	}
	for _, o := range st.Settings {
		set, ok := settings[o.Name]
		if !ok {
			return nil, fmt.Errorf("there is no setting %s", o.Name)
		}
		if err := set(q, s.statement(o.Arg)); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	return q, nil
}

// newMessage reads the text after the verb.
func (q *request) newMessage(verb, text string) (protocol.Request, error) {
	switch verb {
	case "RAW", "ENVELOPE":
		return nil, nil
	case "OPTIONS":
		return &protocol.Options{}, nil
	case "STARTUP":
		return startup(text), nil
	case "REGISTER":
		return &protocol.Register{Names: strings.Fields(text)}, nil
	case "AUTH_RESPONSE":
		token, err := parseHex(text)
		return &protocol.AuthResponse{Token: token}, err
	case "PREPARE":
		return &protocol.Prepare{Query: text}, nil
	case "QUERY":
		m := &protocol.Query{Query: text}
		q.usual(&m.Parameters)
		return m, nil
	case "EXECUTE":
		id, err := q.symbols.id(text)
		m := &protocol.Execute{ID: id}
		q.usual(&m.Parameters)
		return m, err
	case "BATCH":
		kind, err := strconv.ParseUint(strings.NewReplacer("logged", "0", "unlogged", "1", "counter", "2").Replace(text), 10, 8)
		m := &protocol.Batch{Type: protocol.BatchType(kind)}
		q.usual(&m.Parameters)
		return m, err
	}
	return nil, fmt.Errorf("there is no message %s", verb)
}

// usual sets the parameters that a message has without settings.
func (q *request) usual(p *protocol.QueryParameters) {
	p.Consistency, p.SerialConsistency = cqlerr.One, cqlerr.Serial
	q.params = p
}

// startup reads the options of STARTUP: KEY=value, with blanks between them.
func startup(text string) *protocol.Startup {
	m := &protocol.Startup{}
	for _, field := range strings.Fields(text) {
		key, value, _ := strings.Cut(field, "=")
		m.Options = append(m.Options, protocol.Option{Key: key, Value: value})
	}
	return m
}
