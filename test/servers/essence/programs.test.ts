// Programs of twelve languages: types, names of declarations, imports, documentation, title; hostile sources (E-75).

import fc from 'fast-check';
import t from 'tap';
import { LANGUAGES } from '../../../servers/essence/summarizers/source/languages.js';
import { mayReadInThread } from '../../../servers/essence/trust.js';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contextOf, summarize } from './helpers.js';

const lines = (value: string | undefined): readonly string[] =>
  value === undefined ? [] : value.split('\n');

t.test('E-6, E-15, E-16: each language has a type of its own', async (t) => {
  const typeOf = async (name: string, body = 'x', contentType?: string) =>
    (await summarize(`http://a.test/${name}`, body, {}, contentType === undefined ? {} : { contentType }))
      .type;
  const named: readonly (readonly [names: string, type: string])[] = [
    ['A.java', 'Java'],
    ['a.py b.pyi', 'Python'],
    ['a.go', 'Go'],
    ['a.rs', 'Rust'],
    ['a.ts a.tsx a.mts', 'TypeScript'],
    ['a.js a.mjs a.jsx', 'JavaScript'],
    ['a.rb a.gemspec', 'Ruby'],
    ['A.cs', 'CSharp'],
    ['a.kt a.kts', 'Kotlin'],
    ['a.swift', 'Swift'],
    ['a.php', 'PHP'],
    ['a.sql', 'SQL'],
    ['a.sh', 'ShellScript'],
    ['a.lisp a.pas', 'OtherCode'],
  ];
  for (const [names, type] of named)
    for (const name of names.split(' ')) t.equal(await typeOf(name), type, name);
  t.equal(await typeOf('x', 'x', 'text/javascript'), 'JavaScript');
  t.equal(await typeOf('x', '#!/usr/bin/env python3\n'), 'Python');
  t.equal(await typeOf('x', '<?php\n'), 'PHP');
  t.equal(await typeOf('x.ts', 'G\0\0'), 'Data', 'a video stream');
  for (const type of LANGUAGES.keys())
    t.ok(mayReadInThread({ type, isHtml: false }, 1000, contextOf()), type);
});

t.test('Java: package and type, documentation before licenses, methods but no calls', async (t) => {
  const { all, summary } = await summaryOf(
    'Java',
    `/* License: none. class Hidden {} */
package org.example;
import java.util.List;
import static org.junit.Assert.*;
/**
 * Gathers things.
 * @author Ann
 */
public final class Gatherer<T> extends Base {
    private static final String TEXT = """
        class AlsoHidden {}
        """;
    char quote = '"';
    @Override public List<String> run(int a, Map<String, List<T>> b) throws IOException {
        if (a > 1) { call(a); }
        return new Thing(b) {
        };
    }
    // class Commented {}
    enum Kind { A }
}
`,
  );
  t.equal(all.Title, 'org.example.Gatherer');
  t.same(lines(all.References), ['java.util.List', 'org.junit.Assert.*']);
  t.same(lines(all.Keywords), ['Gatherer', 'Kind', 'run']);
  t.match(all.Description, /^Gathers things\.\n@author Ann\nLicense: none/);
  t.match(summary.description, /^Gathers things/);
});

t.test('Python: docstrings, imports of all forms', async (t) => {
  const { all } = await summaryOf(
    'Python',
    `#!/usr/bin/env python3
# License
"""The module.

def hidden(): pass
"""
import os, sys as system
from .a.b import (c,
    d)
async def work(x="#no", y='"""'):
    r'''Works.'''
    sql = """
class Hidden: pass
"""
class Größe(Base):
    def method(self): pass
`,
  );
  t.same(lines(all.References), ['.a.b', 'os', 'sys']);
  t.same(lines(all.Keywords), ['work', 'Größe', 'method']);
  t.equal(all.Description, 'The module.\ndef hidden(): pass\nWorks.\nLicense');
});

t.test('Go: documentation by position, groups of imports', async (t) => {
  const { all } = await summaryOf(
    'Go',
    '// License\n\n// Package harvest gathers.\n// More.\npackage harvest\n\nimport "os"\nimport (\n\t"fmt"\n\tx "net/http"\n)\n\n// Run runs.\nfunc (g *G) Run(s string) error {\n\treturn "no"\n}\ntype G struct{}\nvar raw = `\nfunc hidden() {}\n`\n',
  );
  t.equal(all.Title, 'harvest');
  t.same(lines(all.References), ['os', 'fmt', 'net/http']);
  t.same(lines(all.Keywords), ['Run', 'G', 'raw']);
  t.equal(all.Description, 'Package harvest gathers.\nMore.\nRun runs.\nLicense');
});

t.test('Rust: lifetimes, raw strings, nested comments', async (t) => {
  const { all } = await summaryOf(
    'Rust',
    `//! The crate.
use std::io::{self, Read};
/* a /* nested */ fn hidden() {} */
/// Runs.
pub(crate) async fn run<'a>(x: &'a str) -> char { '"' }
const RAW: &str = r#"
"fn hidden() {}
"#;
pub struct S<'a> { x: &'a str }
macro_rules! m { () => {} }
`,
  );
  t.same(lines(all.References), ['std::io']);
  t.same(lines(all.Keywords), ['run', 'RAW', 'S', 'm']);
  t.equal(all.Description, 'The crate.\nRuns.\na /* nested */ fn hidden() {}');
});

t.test(
  'JavaScript and TypeScript: declarations, methods, imports; regular expressions and templates',
  async (t) => {
    const source = `/** The module. */
import { a,
  b } from './a.js';
import './side.js';
export * from 'c';
const d = require("d"), e = await import('e');
const quote = /['"\`/*]/.test(x);
const text = \`
function hidden() {}
\`;
export default class Reader<T> extends Base {
  #private = 1;
  async read(x: string, y = 2): Promise<void> {
    if (x) { return; }
    for (const a of b) {}
  }
}
export const arrow = async (x) => x, other = 1;
export interface Shape {}
type Alias = string; // note
export async function* generate() {}
`;
    const { all } = await summaryOf('TypeScript', source);
    t.same(lines(all.References), ['./a.js', 'c', './side.js', 'd', 'e']);
    t.same(lines(all.Keywords), ['Reader', 'Shape', 'Alias', 'generate', 'arrow', 'read']);
    t.equal(all.Description, 'The module.\nnote');
    t.same((await summaryOf('JavaScript', source)).all, all);
  },
);

t.test('Ruby, C#, Kotlin, Swift, PHP, SQL', async (t) => {
  const ruby = await summaryOf(
    'Ruby',
    '# License\n\n# Gathers.\nmodule Harvest\n  require \'json\'\n  require_relative "a/b"\n  class Reader < Base\n    def self.read(x) = "#{x}" # note\n    def empty?; end\n    X = <<~TEXT\n      def hidden\n    TEXT\n  end\nend\n=begin\nmore\n=end\n',
  );
  t.same(ruby.all, {
    Title: 'Harvest',
    Description: 'Gathers.\nmore\nLicense\nnote',
    References: 'json\na/b',
    Keywords: 'Harvest\nReader\nread\nempty?',
  });
  const csharp = await summaryOf(
    'CSharp',
    'using System.Text;\nnamespace A.B;\n/// <summary>Gathers.</summary>\npublic sealed class C : D {\n  string s = @"\\";\n  public static async Task<int> RunAsync(int a = 1) {\n    return Call(a);\n  }\n}\n',
  );
  t.same(csharp.all, {
    Title: 'A.B.C',
    Description: 'Gathers.',
    References: 'System.Text',
    Keywords: 'C\nRunAsync',
  });
  const kotlin = await summaryOf(
    'Kotlin',
    'package a.b\nimport c.d.*\n/** Gathers. /* nested */ */\n@Serializable data class E(val x: Int) {\n  override suspend fun <T> List<T>.run(): Int = 1\n}\n',
  );
  t.same(kotlin.all, {
    Title: 'a.b.E',
    Description: 'Gathers. /* nested */',
    References: 'c.d.*',
    Keywords: 'E\nrun',
  });
  const swift = await summaryOf(
    'Swift',
    '@testable import A\nimport struct B.C\n/// Gathers.\npublic final class D: E {\n  @objc private func run(_ x: Int) {}\n}\n',
  );
  t.same(swift.all, { Description: 'Gathers.', References: 'A\nB.C', Keywords: 'D\nrun' });
  const php = await summaryOf(
    'PHP',
    "<?php\n/** Gathers. */\nnamespace A\\B;\nuse C\\D;\nrequire_once __DIR__ . '/e.php';\nabstract class F {\n  #[G]\n  public static function run() {} # note\n}\n?>\n<p>\nfunction hidden()\n<?php function last() {}\nfunction more() {}\n",
  );
  t.same(php.all, {
    Title: 'A\\B\\F',
    Description: 'Gathers.\nnote',
    References: 'C\\D\n/e.php',
    Keywords: 'F\nrun\nmore',
  });
  const sql = await summaryOf(
    'SQL',
    "-- License\n\n-- The people.\nCREATE TABLE IF NOT EXISTS app.people (name text default 'a''b');\ncreate or replace function f() returns int as $$\ncreate table hidden ();\n$$ language sql;\n\\i more.sql\n",
  );
  t.same(sql.all, {
    Description: 'The people.\nLicense',
    References: 'more.sql',
    Keywords: 'app.people\nf',
  });
});

t.test('ShellScript: scripts that it reads, in addition to comments and functions', async (t) => {
  const { all } = await summaryOf(
    'ShellScript',
    '#!/bin/sh\n# Runs.\n. /lib/a.sh\nsource "b.sh"; ./c\nrun() { :; }\n',
  );
  t.same(all, { Description: 'Runs.', Keywords: 'run', References: '/lib/a.sh\nb.sh' });
});

const OPENERS = [
  ...[
    '/*',
    '/**',
    '//',
    '"',
    "'",
    '`',
    '"""',
    "'''",
    '#',
    '{',
    '(',
    '\\',
    '<<~A\n',
    'r#"',
    '$a$',
    '=/[',
    '=/a',
    '<<<A\n',
    '<?',
    '?>',
  ],
  ...[
    '@a(',
    'class ',
    'import {a,',
    'import (',
    'public a b(',
    '  a b(c, ',
    'const a = (',
    'fun <',
    'create temp ',
    '=begin\n',
    '-- ',
  ],
];

t.test('E-45: sources in which everything is left open, and long ones', async (t) => {
  for (const type of LANGUAGES.keys()) {
    const warnings = [];
    for (const opener of OPENERS) warnings.push(...(await summaryOf(type, opener.repeat(3000))).warnings);
    t.same(warnings, [], type);
  }
  // Quadratic time would be minutes.
  for (const type of LANGUAGES.keys()) {
    for (const mark of ['*', '#', '-', '/', '"', "'", ' ', '\t'])
      t.ok(
        await summaryOf(type, `/* ${mark.repeat(200_000)}\n# ${mark.repeat(100_000)}x`),
        `${type} ${mark}`,
      );
  }
  const long = await summaryOf('Go', 'x '.repeat(1_500_000));
  t.match(long.warnings, [/the program beyond 2097152 characters is not read \(E-45\)/]);
});

t.test('property: no source makes a reader throw; names have no line ends', async () => {
  const piece = fc.oneof(
    fc.constantFrom(...OPENERS, '\n', ' ', 'a', ')', '}', '*/', 'def a', 'fn a()', ';'),
    fc.string({ maxLength: 6 }),
  );
  await assertProperty(
    fc.asyncProperty(
      fc.constantFrom(...LANGUAGES.keys()),
      fc.array(piece, { maxLength: 60 }),
      async (type, pieces) => {
        const { all } = await summaryOf(type, pieces.join(''));
        return lines(all.Keywords).every((name) => name !== '' && !/\s/.test(name));
      },
    ),
    { numRuns: 1500 },
  );
});
