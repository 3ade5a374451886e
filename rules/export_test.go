package rules

// TestTemplates compiles both statements of a rule, which loading leaves to their first use.
func (r *Rule) TestTemplates() error {
	if _, err := r.compiled.then(); err != nil {
		return err
	}
	_, err := r.compiled.els()
	return err
}

// TestResult is the result of the rule over the facts of an inline test.
func (r *Rule) TestResult(t RuleTest) (Result, error) {
	v, err := t.values(r)
	if err != nil {
		return Result{}, err
	}
	return r.evaluateOne(v), nil
}
