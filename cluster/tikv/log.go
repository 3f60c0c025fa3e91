package tikv

import (
	"fmt"

	"github.com/pingcap/log"
	"github.com/rs/zerolog"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logTo has client-go and the client of PD log to a logger. Their levels are for the people who run a database. A
// server's log has their warnings as debug: nearly all are about what they try again by themselves.
func logTo(to zerolog.Logger) {
	core := logCore{to: to.With().Str("from", "client-go").Logger()}
	log.ReplaceGlobals(zap.New(core), &log.ZapProperties{Core: core, Level: zap.NewAtomicLevelAt(zapcore.WarnLevel)})
}

// logCore writes zap's entries to zerolog.
type logCore struct{ to zerolog.Logger }

// level is the level in our log of an entry of zap's.
func level(l zapcore.Level) zerolog.Level {
	switch {
	case l >= zapcore.DPanicLevel:
		return zerolog.ErrorLevel
	case l >= zapcore.ErrorLevel:
		return zerolog.WarnLevel
	case l >= zapcore.WarnLevel:
		return zerolog.DebugLevel
	}
	return zerolog.TraceLevel
}

// Enabled reports whether entries of a level are written.
func (c logCore) Enabled(l zapcore.Level) bool {
	return level(l) >= c.to.GetLevel() && level(l) > zerolog.TraceLevel
}

// With returns a core that adds fields to each entry.
func (c logCore) With(fields []zapcore.Field) zapcore.Core {
	return logCore{to: c.to.With().Fields(values(fields)).Logger()}
}

// Check adds the core to those that write an entry.
func (c logCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// Write writes an entry.
func (c logCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	c.to.WithLevel(level(e.Level)).Fields(values(fields)).Msg(e.Message)
	return nil
}

// Sync has nothing to do.
func (logCore) Sync() error { return nil }

// values are the fields' names and values.
func values(fields []zapcore.Field) map[string]any {
	encoded := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(encoded)
	}
	for name, v := range encoded.Fields {
		if err, ok := v.(error); ok {
			encoded.Fields[name] = fmt.Sprint(err)
		}
	}
	return encoded.Fields
}
