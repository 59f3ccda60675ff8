// Programs of twelve languages: types, and hostile sources (E-75).
import fc from 'fast-check';
import t from 'tap';
import { mayReadInThread } from '../../../servers/essence/recognition/trust.js';
import { LANGUAGES } from '../../../servers/essence/summarizers/source/languages.js';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contextOf, summarize } from './helpers.js';

const lines = (value: string | undefined): readonly string[] =>
  value === undefined ? [] : value.split('\n');

t.test('E-6, E-15, E-16: each language has a type of its own', async (t) => {
  const typeOf = async (name: string, body = 'x', contentType?: string) =>
    (await summarize(`http://a.test/${name}`, body, {}, { contentType })).type;
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

const OPENERS = [
  ...'/*|/**|//|"|\'|`|"""|\'\'\'|#|{|(|\\|<<~A\n|r#"|$a$|=/[|=/a|<<<A\n|<?|?>'.split('|'),
  ...(
    '@a(|class |import {a,|import (|public a b(|  a b(c, |const a = (|fun <|create temp |=begin\n|' + '-- '
  ).split('|'),
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
