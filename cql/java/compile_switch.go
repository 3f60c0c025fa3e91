package java

// switchStatement compiles a switch over numbers, characters or strings.
func (c *compiler) switchStatement(label string, s *switchStatement) (run statementFunc, completes bool) {
	c.scope(func() { run, completes = c.switchBlock(label, s) })
	return run, completes
}

func (c *compiler) switchBlock(label string, s *switchStatement) (statementFunc, bool) {
	value := c.expr(s.value, nil)
	over := unboxed(value.typ)
	texts := over.kind == classKind && over.class == classString
	switch {
	case texts:
	case over.integral() && over.kind != longKind:
		value = c.toPrimitive(value, intType)
	default:
		refuse(value.pos, "Cannot switch on a value of type %s. "+
			"Only convertible int values, strings or enum variables are permitted", value.typ)
	}
	numbers, strings := make(map[int64]int), make(map[string]int)
	otherwise := -1
	jumps := &target{label: label, switches: true}
	var runs []statementFunc
	start := c.assigned
	completes := true
	c.enter(jumps, func() {
		for _, k := range s.cases {
			for _, l := range k.labels {
				e := c.expr(l, over)
				if e.constant == nil {
					refuse(e.pos, "case expressions must be constant expressions")
				}
				e = c.assignable(e, over)
				switch v := e.constant.(type) {
				case *str:
					if _, twice := strings[textKey(v)]; twice {
						refuse(e.pos, "Duplicate case")
					}
					strings[textKey(v)] = len(runs)
				case int64:
					if _, twice := numbers[v]; twice {
						refuse(e.pos, "Duplicate case")
					}
					numbers[v] = len(runs)
				}
			}
			if k.isDefault {
				if otherwise >= 0 {
					refuse(k.pos, "The default case is already defined")
				}
				otherwise = len(runs)
			}
			if completes {
				c.assigned &= start
			} else {
				c.assigned = start
			}
			var run statementFunc
			outer := c.inSwitch
			c.inSwitch = true
			run, completes = c.sequence(k.body)
			c.inSwitch = outer
			runs = append(runs, run)
		}
	})
	if otherwise < 0 || len(s.cases) > 0 && len(s.cases[len(s.cases)-1].body) == 0 {
		c.assigned &= start
		completes = true
	}
	if len(s.cases) == 0 {
		completes = true
	}
	c.assigned &= jumps.breakAssigned
	leaves := jumps.breakOf()
	from := func(t *thread, at int, found bool) signal {
		if !found {
			at = otherwise
		}
		if at < 0 {
			return goesOn
		}
		for _, run := range runs[at:] {
			if s := run(t); s != goesOn {
				if s == leaves {
					return goesOn
				}
				return s
			}
		}
		return goesOn
	}
	done := completes || jumps.left
	if texts {
		f := value.r
		missing := npe("Cannot invoke \"String.hashCode()\"", value)
		return func(t *thread) signal {
			o := f(t)
			if o == nil {
				missing()
			}
			t.charge(o.(*str).length() / 8)
			at, found := strings[textKey(o.(*str))]
			return from(t, at, found)
		}, done
	}
	f := value.n
	return func(t *thread) signal {
		at, found := numbers[f(t)]
		return from(t, at, found)
	}, done
}

// textKey is a string as the key of a Go map.
func textKey(s *str) string {
	if s.u == nil {
		return s.s
	}
	b := make([]byte, 0, 2*len(s.u)+1)
	b = append(b, 0xff)
	for _, u := range s.u {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}
