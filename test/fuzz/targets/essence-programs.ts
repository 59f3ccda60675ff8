// Essence: programs, a target for each language.
import type { FuzzTarget } from '../target.js';
import { textReader } from './essence.js';

const PROGRAM = [
  'class A',
  'word',
  'import a',
  '',
  ' ',
  ...'// /* /** */ " \' ` # \\ { } ( ) ; = < > , . @a \t'.split(' '),
];
const program = (name: string, words: string): FuzzTarget => textReader(name, words, PROGRAM);

export const essenceJava = program(
  'x.java',
  'package a.b;|import static a.*;|"""|public static int|a(int b)|throws C',
);
export const essencePython = program(
  'x.py',
  '"""|\'\'\'|r"""|def a(b):|async def|from a import b|import a, b as c',
);
export const essenceGo = program(
  'x.go',
  'package a|import (|"a/b"|func (a *B) C(|func D(|type E struct|// F',
);
export const essenceRust = program(
  'x.rs',
  'use a::{b, c};|r#"|"#|\'a|pub(crate) fn a|macro_rules! b|//!|///',
);
export const essenceTypescript = program(
  'x.ts',
  'import { a } from "b";|export default|require("a")|const a = (|) => b|/[/]/g|= /|$|{|function* a(|get a() {',
);
export const essenceRuby = program('x.rb', '=begin|=end|<<~A|A|def self.a|module B|require "c"|#{|__END__');
export const essenceCsharp = program(
  'x.cs',
  'using A.B;|namespace C|///|<summary>|@"|$"|public async Task<D> E(|=> 1',
);
export const essenceKotlin = program(
  'x.kt',
  'package a.b|import c.*|"""|fun <T> A.b(|data class C(|object D|/* /*',
);
export const essenceSwift = program(
  'x.swift',
  '@a import struct b|///|func c(|extension D|"""|@objc(e)|private(set)',
);
export const essencePhp = program(
  'x.php',
  "<?php|?>|<<<A|A;|namespace B\\C;|use D\\E;|function f()|require 'g';|#[",
);
export const essenceSql = program(
  'x.sql',
  '--|$$|$a$|create table a|create or replace function|if not exists|\\i b',
);
