// Runs the vectors of harvest-kit against an implementation: go run run.go DIR COMMAND [ARGUMENT...]
// See run.py for what the command reads and writes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
)

type vector struct {
	Name, Verdict, Rule string
	Input               string
	InputBase64         []byte
	Parameters          map[string]any
	Output              any
}

type answer struct {
	Verdict string
	Output  any
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func main() {
	var all []vector
	var kinds []string
	var requests bytes.Buffer
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*", "vectors", "*.json"))
	check(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		var content struct {
			Kind    string
			Vectors []vector
		}
		check(json.Unmarshal(text, &content))
		for _, v := range content.Vectors {
			input := v.InputBase64
			if input == nil {
				input = []byte(v.Input)
			}
			if v.Parameters == nil {
				v.Parameters = map[string]any{}
			}
			line := map[string]any{"kind": content.Kind, "input": input, "parameters": v.Parameters}
			check(json.NewEncoder(&requests).Encode(line))
			all, kinds = append(all, v), append(kinds, content.Kind)
		}
	}
	command := exec.Command(os.Args[2], os.Args[3:]...)
	command.Stdin, command.Stderr = &requests, os.Stderr
	output, err := command.Output()
	check(err)
	answers := json.NewDecoder(bytes.NewReader(output))
	counts := map[string]int{}
	for i, v := range all {
		var a answer
		check(answers.Decode(&a))
		verdict := "failed"
		if a.Verdict == "skip" {
			verdict = "skipped"
		} else if v.Verdict == "invalid" && a.Verdict == "reject" ||
			v.Verdict != "invalid" && a.Verdict == "accept" && reflect.DeepEqual(a.Output, v.Output) {
			verdict = "passed"
		} else {
			fmt.Printf("FAIL %s: %s: %s %v\n", kinds[i], v.Name, a.Verdict, a.Output)
		}
		counts[verdict]++
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", counts["passed"], counts["failed"], counts["skipped"])
	if counts["failed"] > 0 || counts["passed"] == 0 {
		os.Exit(1)
	}
}
