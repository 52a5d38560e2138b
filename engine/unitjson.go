package engine

import (
	"encoding/json"
	"fmt"
)

// UnmarshalJSON reads an envelope back with the items of its unit.
func (env *UnitEnvelope) UnmarshalJSON(b []byte) error {
	type plain UnitEnvelope
	raw := struct {
		*plain
		Items []json.RawMessage `json:"items"`
	}{plain: (*plain)(env)}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	env.Items = make([]any, len(raw.Items))
	for i, r := range raw.Items {
		item, err := newItem(env.Mode, env.Unit)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(r, item); err != nil {
			return err
		}
		env.Items[i] = item
	}
	return nil
}

// newItem is an empty item as the envelope of that mode and unit holds them.
func newItem(mode, unit string) (any, error) {
	if mode == modeGroups {
		return new(GroupItem), nil
	}
	switch unit {
	case "message":
		return new(MessageItem), nil
	case "action":
		return new(ActionItem), nil
	case "block":
		return new(BlockItem), nil
	}
	return nil, fmt.Errorf("items of mode %s, unit %s", mode, unit)
}
