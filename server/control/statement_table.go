package control

import "github.com/cqld/cqld/cql/types"

// statementTable has the recorded statements:
//
//	SELECT statement, full_scan, error FROM cqld_control.statements
//	TRUNCATE cqld_control.statements
type statementTable struct{ record *Record }

func (t statementTable) rows() (all []Row) {
	for _, s := range t.record.Statements() {
		v := values{}
		v.setDuration("took", s.Took)
		v.setText("opcode", s.Opcode)
		v.setText("kind", s.Kind)
		v.setText("statement", s.Text)
		v.setText("keyspace_name", s.Keyspace)
		v.setText("table_name", s.Table)
		v.setText("client", s.Client)
		v.setBool("prepared", s.Prepared)
		v.setBool("full_scan", s.Scanned)
		v.setInt("node", s.Node)
		v.setInt("returned", s.Returned)
		v.setInt("rows_read", s.RowsRead)
		v.setInt("tombstones_read", s.Tombstones)
		if s.Opcode != "PREPARE" {
			v.setText("consistency", s.Consistency.String())
		}
		if s.Err != nil {
			v.setText("error", s.Err.Error())
		}
		keys := make([][]byte, len(s.Keys))
		for i, k := range s.Keys {
			keys[i] = types.EncodeText(k)
		}
		v["partitions"] = types.NewList(keys)
		all = append(all, Row{types.EncodeBigInt(s.Number), v})
	}
	return all
}

// Write refuses to change the record.
func (t statementTable) Write([]byte, map[string][]byte) error {
	return errCannot("The statements that clients have run cannot be changed: TRUNCATE forgets them")
}

// Delete refuses to change the record.
func (t statementTable) Delete([]byte) error { return t.Write(nil, nil) }

// Truncate forgets the statements.
func (t statementTable) Truncate() error {
	t.record.Forget()
	return nil
}
