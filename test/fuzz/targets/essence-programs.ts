// Essence: programs, a target for each language.
import type { FuzzTarget } from '../target.js';
import { textReader } from './essence.js';

const program = (name: string, ...words: readonly string[]): FuzzTarget =>
  textReader(name, [
    ...'//|/*|/**|*/|"|\'|`|#|\\|{|}|(|)|;|=|<|>|,|.|@a| |\t'.split('|'),
    ...['class A', 'word', 'import a', ''],
    ...words,
  ]);

export const essenceJava = program(
  'x.java',
  'package a.b;',
  'import static a.*;',
  '"""',
  'public static int',
  'a(int b)',
  'throws C',
);
export const essencePython = program(
  'x.py',
  ...'"""|\'\'\'|r"""|def a(b):|async def|from a import b|import a, b as c'.split('|'),
);
export const essenceGo = program(
  'x.go',
  ...'package a|import (|"a/b"|func (a *B) C(|func D(|type E struct|// F'.split('|'),
);
export const essenceRust = program(
  'x.rs',
  ...'use a::{b, c};|r#"|"#|\'a|pub(crate) fn a|macro_rules! b|//!|///'.split('|'),
);
export const essenceTypeScript = program(
  'x.ts',
  ...['import { a } from "b";', 'export default', 'require("a")', 'const a = (', ') => b', '/[/]/g', '= /'],
  ...['$', '{', 'function* a(', 'get a() {'],
);
export const essenceRuby = program(
  'x.rb',
  ...'=begin|=end|<<~A|A|def self.a|module B|require "c"|#{|__END__'.split('|'),
);
export const essenceCSharp = program(
  'x.cs',
  ...'using A.B;|namespace C|///|<summary>|@"|$"|public async Task<D> E(|=> 1'.split('|'),
);
export const essenceKotlin = program(
  'x.kt',
  ...'package a.b|import c.*|"""|fun <T> A.b(|data class C(|object D|/* /*'.split('|'),
);
export const essenceSwift = program(
  'x.swift',
  ...'@a import struct b|///|func c(|extension D|"""|@objc(e)|private(set)'.split('|'),
);
export const essencePhp = program(
  'x.php',
  ..."<?php|?>|<<<A|A;|namespace B\\C;|use D\\E;|function f()|require 'g';|#[".split('|'),
);
export const essenceSql = program(
  'x.sql',
  ...'--|$$|$a$|create table a|create or replace function|if not exists|\\i b'.split('|'),
);
