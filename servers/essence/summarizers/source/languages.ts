// The languages: their comments and strings, and how declarations and imports begin. All expressions begin at
// the start of a line and have bounded parts, so that they take linear time.

import { wordSet } from '../../word-tables.js';
import type { SpanRule } from './spans.js';

/** How a language is read. */
export interface Language {
  readonly spans: readonly SpanRule[];
  /** Expressions whose first group is the name of a declaration. */
  readonly declarations: readonly RegExp[];
  /** Expressions whose first group names the import; several names are separated by commas or in quotes. */
  readonly imports: readonly RegExp[];
  /** Expression whose first group is the name of the module. */
  readonly module?: RegExp;
  /**
   * Expression whose first group is the type for which the file is named, and what separates it from the name
   * of the module.
   */
  readonly mainType?: { readonly pattern: RegExp; readonly separator: string };
  /** What follows a comment that is documentation by its position only. */
  readonly documented?: RegExp;
  /** Words that are no names. */
  readonly keywords?: ReadonlySet<string>;
}

const LINE: SpanRule = { open: '//', kind: 'comment', close: 'line' };
const DOC_LINE: SpanRule = { open: '///(?!/)', kind: 'doc', close: 'line' };
const DOC_BLOCK: SpanRule = { open: '/\\*\\*(?!/|\\*)', kind: 'doc', close: '*/' };
const BLOCK: SpanRule = { open: '/\\*', kind: 'comment', close: '*/' };
const NESTED_DOC: SpanRule = { ...DOC_BLOCK, isNested: true };
const NESTED_BLOCK: SpanRule = { ...BLOCK, isNested: true };
const HASH: SpanRule = { open: '(?<![^\\s;])#(?!!)', kind: 'comment', close: 'line' };
const DOUBLE: SpanRule = { open: '"', kind: 'string', close: '"', hasEscapes: true, isInLine: true };
const SINGLE: SpanRule = { open: "'", kind: 'string', close: "'", hasEscapes: true, isInLine: true };
const TRIPLE: SpanRule = { open: '"""', kind: 'string', close: '"""', hasEscapes: true };
/** A character; a single quote alone is a lifetime or a label. */
const CHARACTER: SpanRule = {
  open: "'(?:[^'\\\\\\n]|\\\\[^\\n]{1,10}?)(?=')",
  kind: 'string',
  close: "'",
  isInLine: true,
};

const CONTROL = wordSet(
  'if for while switch catch return new else do try throw using lock foreach synchronized await with function sizeof typeof when in is as not and or super this',
);

const MODIFIERS =
  '(?:(?:public|private|protected|internal|static|final|abstract|sealed|non-sealed|partial|async|virtual|override|readonly|unsafe|extern|new|native|synchronized|default|strictfp|file|ref)[ \\t]+)';
/** Annotations before a declaration on the same line. */
const ANNOTATIONS = '(?:@[\\w.]{1,80}(?:\\([^()\\n]{0,200}\\))?[ \\t]+){0,5}';
const METHOD = new RegExp(
  `^[ \\t]{1,40}${ANNOTATIONS}${MODIFIERS}{0,6}(?:<[^()\\n]{0,100}>[ \\t]+)?(?!return\\b|new\\b|else\\b|throw\\b|await\\b)[A-Za-z_][\\w.<>\\[\\],?]{0,150}(?:[ \\t]+|, )(?:[\\w.<>\\[\\],? ]{0,80}[ \\t])?([A-Za-z_]\\w{0,100})[ \\t]*\\([^(){};]{0,1000}(?:\\([^(){};]{0,200}\\)[^(){};]{0,200}){0,5}\\)[^(){};=]{0,200}(?:\\{|=>|;)`,
  'gm',
);

const JAVA: Language = {
  spans: [DOC_BLOCK, BLOCK, LINE, TRIPLE, DOUBLE, CHARACTER],
  declarations: [
    new RegExp(
      `^[ \\t]*${ANNOTATIONS}${MODIFIERS}{0,6}(?:class|interface|enum|record|@interface)[ \\t]+(\\w{1,200})`,
      'gm',
    ),
    METHOD,
  ],
  imports: [/^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.*]{1,300})[ \t]*;/gm],
  module: /^[ \t]*package[ \t]+([\w.]{1,300})[ \t]*;/m,
  mainType: {
    pattern: new RegExp(
      `^${ANNOTATIONS}${MODIFIERS}{0,6}(?:class|interface|enum|record|@interface)[ \\t]+(\\w{1,200})`,
      'm',
    ),
    separator: '.',
  },
  keywords: CONTROL,
};

const CSHARP: Language = {
  spans: [
    DOC_LINE,
    DOC_BLOCK,
    BLOCK,
    LINE,
    TRIPLE,
    { open: '\\$?@\\$?"', kind: 'string', close: '"' },
    DOUBLE,
    CHARACTER,
  ],
  declarations: [
    new RegExp(
      `^[ \\t]*${MODIFIERS}{0,6}(?:class|interface|enum|struct|record(?:[ \\t]+(?:class|struct))?)[ \\t]+(\\w{1,200})`,
      'gm',
    ),
    METHOD,
  ],
  imports: [
    /^[ \t]*(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?(?:\w{1,100}[ \t]*=[ \t]*)?([\w.]{1,300})[ \t]*;/gm,
  ],
  module: /^[ \t]*namespace[ \t]+([\w.]{1,300})/m,
  mainType: {
    pattern: new RegExp(
      `^[ \\t]*${MODIFIERS}{0,6}(?:class|interface|enum|struct|record)[ \\t]+(\\w{1,200})`,
      'm',
    ),
    separator: '.',
  },
  keywords: CONTROL,
};

const KOTLIN: Language = {
  spans: [NESTED_DOC, NESTED_BLOCK, LINE, { ...TRIPLE, hasEscapes: false }, DOUBLE, CHARACTER],
  declarations: [
    /^[ \t]*(?:@[\w.]{1,80}(?:\([^()\n]{0,200}\))?[ \t]+){0,5}(?:[a-z]{1,20}[ \t]+){0,8}(?:fun[ \t]+(?:<[^<>\n]{0,200}>[ \t]*)?(?:[\w.<>?]{1,200}\.)?|class[ \t]+|interface[ \t]+|object[ \t]+|typealias[ \t]+)([A-Za-z_]\w{0,200})/gm,
  ],
  imports: [/^[ \t]*import[ \t]+([\w.*]{1,300})/gm],
  module: /^[ \t]*package[ \t]+([\w.]{1,300})/m,
  mainType: {
    pattern:
      /^(?:@[\w.]{1,80}(?:\([^()\n]{0,200}\))?[ \t]+){0,5}(?:[a-z]{1,20}[ \t]+){0,8}(?:class|interface|object)[ \t]+(\w{1,200})/m,
    separator: '.',
  },
};

const SCRIPT: Language = {
  spans: [
    DOC_BLOCK,
    BLOCK,
    LINE,
    // A regular expression, which may contain quotes.
    {
      open: '(?<=(?:[(,=:\\[!&|?{};+>~]|\\breturn)[ \\t]{0,4})/(?![*/])(?:[^\\\\/\\[\\n]|\\\\[^\\n]|\\[(?:[^\\]\\\\\\n]|\\\\[^\\n]){0,200}\\]){1,400}/',
      kind: 'string',
      close: () => '',
    },
    { open: '`', kind: 'string', close: '`', hasEscapes: true },
    DOUBLE,
    SINGLE,
  ],
  declarations: [
    /^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:const[ \t]+(?=enum))?(?:async[ \t]+)?(?:function\b[ \t]*\*?|class|interface|enum|namespace|type)[ \t]*([A-Za-z_$][\w$]{0,200})/gm,
    /^[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+([A-Za-z_$][\w$]{0,200})[ \t]*(?::[^=\n]{0,300})?=[ \t]*(?:async[ \t]*)?(?:function\b|class\b|\([^()\n]{0,500}\)[ \t]*(?::[^=\n]{0,200})?=>|[\w$]{1,100}[ \t]*=>)/gm,
    /^[ \t]+(?:(?:public|private|protected|static|async|readonly|override|abstract|get|set)[ \t]+){0,6}[#*]?([A-Za-z_$][\w$]{0,200})[ \t]*(?:<[^<>\n]{0,100}>)?\([^()\n]{0,500}\)[ \t]*(?::[^{}\n]{0,200})?\{/gm,
    /^(?:module\.)?exports\.([A-Za-z_$][\w$]{0,200})[ \t]*=[ \t]*(?:async[ \t]*)?(?:function\b|\()/gm,
  ],
  imports: [
    /^[ \t]*(?:import|export)\b[^'"`;]{0,2000}?\bfrom[ \t]*['"]([^'"\n]{1,500})['"]/gm,
    /^[ \t]*import[ \t]*['"]([^'"\n]{1,500})['"]/gm,
    /\b(?:require|import)\([ \t]*['"]([^'"\n]{1,500})['"]/g,
  ],
  keywords: new Set([...CONTROL, 'constructor']),
};

const PYTHON_STRING = '[rRbBuUfF]{0,2}';
const PYTHON: Language = {
  spans: [
    { open: '(?<=^[ \\t]{0,80})[rRuU]?"""', kind: 'doc', close: '"""', hasEscapes: true },
    { open: "(?<=^[ \\t]{0,80})[rRuU]?'''", kind: 'doc', close: "'''", hasEscapes: true },
    { open: `\\b${PYTHON_STRING}"""|"""`, kind: 'string', close: '"""', hasEscapes: true },
    { open: `\\b${PYTHON_STRING}'''|'''`, kind: 'string', close: "'''", hasEscapes: true },
    DOUBLE,
    SINGLE,
    { ...HASH, open: '#(?!!)' },
  ],
  declarations: [/^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+([\p{L}_][\p{L}\p{N}_]{0,200})/gmu],
  imports: [
    /^[ \t]*from[ \t]+([\w.]{1,300})[ \t]+import\b/gm,
    /^[ \t]*import[ \t]+([\w.][\w., \t]{0,500})/gm,
  ],
};

const GO: Language = {
  spans: [BLOCK, LINE, { open: '`', kind: 'string', close: '`' }, DOUBLE, CHARACTER],
  declarations: [
    /^func[ \t]+(?:\([^()\n]{0,200}\)[ \t]*)?(\w{1,200})/gm,
    /^(?:type|var|const)[ \t]+(\w{1,200})/gm,
  ],
  imports: [/^import[ \t]+(?:[\w.]{1,100}[ \t]+)?"([^"\n]{1,300})"/gm, /^import[ \t]*(\([^()]{0,20000}\))/gm],
  module: /^package[ \t]+(?!main\b)(\w{1,200})/m,
  documented: /\n(?:package|func|type|var|const)\b/y,
};

const RUST: Language = {
  spans: [
    { ...DOC_LINE, open: '//[/!](?!/)' },
    { ...NESTED_DOC, open: '/\\*[*!](?!/|\\*)' },
    NESTED_BLOCK,
    LINE,
    { open: '\\bb?r#{0,20}"', kind: 'string', close: (open) => `"${open.replace(/[^#]/g, '')}` },
    { ...DOUBLE, isInLine: false },
    CHARACTER,
  ],
  declarations: [
    /^[ \t]*(?:pub(?:\([^()\n]{0,50}\))?[ \t]+)?(?:(?:default|const|async|unsafe|extern[ \t]+"[^"\n]{0,20}")[ \t]+){0,4}(?:fn|struct|enum|trait|union|mod|type|macro_rules!|const|static)[ \t]+(?:mut[ \t]+)?([A-Za-z_]\w{0,200})/gm,
  ],
  imports: [
    /^[ \t]*(?:pub(?:\([^()\n]{0,50}\))?[ \t]+)?use[ \t]+([\w:*]{1,300})/gm,
    /^[ \t]*extern[ \t]+crate[ \t]+(\w{1,100})/gm,
  ],
};

const RUBY: Language = {
  spans: [
    { open: '^=begin\\b', kind: 'doc', close: '\n=end' },
    { open: '^__END__$', kind: 'string', close: '\0' },
    {
      open: '<<[~-]["\'`]?[A-Z_]{1,40}["\'`]?',
      kind: 'string',
      close: (open) => `${open.replace(/[^A-Z_]/g, '')}\n`,
    },
    DOUBLE,
    SINGLE,
    HASH,
  ],
  declarations: [
    /^[ \t]*(?:def[ \t]+(?:[\w:]{1,100}\.)?|class[ \t]+|module[ \t]+)([A-Za-z_][\w:]{0,200}[?!=]?)/gm,
  ],
  imports: [/^[ \t]*(?:require|require_relative|load)[ \t(]+['"]([^'"\n]{1,300})['"]/gm],
  module: /^(?:module|class)[ \t]+([A-Z][\w:]{0,200})/m,
  documented: /\n[ \t]{0,80}(?:def|class|module)\b/y,
};

const SWIFT: Language = {
  spans: [DOC_LINE, NESTED_DOC, NESTED_BLOCK, LINE, TRIPLE, DOUBLE],
  declarations: [
    /^[ \t]*(?:@\w{1,60}(?:\([^()\n]{0,100}\))?[ \t]+){0,5}(?!import\b)(?:[a-z]{1,20}(?:\([a-z]{1,20}\))?[ \t]+){0,6}(?:func|class|struct|enum|protocol|extension|actor|typealias)[ \t]+([A-Za-z_]\w{0,200})/gm,
  ],
  imports: [
    /^[ \t]*(?:@\w{1,60}[ \t]+)?import[ \t]+(?:(?:class|struct|func|enum|protocol|var|let|typealias)[ \t]+)?([\w.]{1,300})/gm,
  ],
  keywords: wordSet('func var let init'),
};

const PHP: Language = {
  spans: [
    // What is outside of the program is a page.
    { open: '\\?>', kind: 'string', close: '<?' },
    DOC_BLOCK,
    BLOCK,
    LINE,
    { ...HASH, open: '#(?!\\[)' },
    {
      open: '<<<[ \\t]*["\']?\\w{1,60}["\']?\\n',
      kind: 'string',
      close: (open) => /\w+/.exec(open)?.[0] ?? '',
    },
    { ...DOUBLE, isInLine: false },
    { ...SINGLE, isInLine: false },
  ],
  declarations: [
    /^[ \t]*(?:(?:abstract|final|readonly|public|private|protected|static)[ \t]+){0,5}(?:function[ \t]+&?|class[ \t]+|interface[ \t]+|trait[ \t]+|enum[ \t]+)([A-Za-z_]\w{0,200})/gm,
  ],
  imports: [
    /^use[ \t]+(?:function[ \t]+|const[ \t]+)?([\w\\]{1,300})/gm,
    /\b(?:require|include)(?:_once)?[ \t(]{1,9}[^'";\n]{0,100}['"]([^'"\n]{1,300})['"]/g,
  ],
  module: /^[ \t]*namespace[ \t]+([\w\\]{1,300})/m,
  mainType: {
    pattern: /^(?:(?:abstract|final|readonly)[ \t]+){0,3}(?:class|interface|trait|enum)[ \t]+(\w{1,200})/m,
    separator: '\\',
  },
};

const SQL: Language = {
  spans: [
    { open: '--', kind: 'comment', close: 'line' },
    BLOCK,
    { open: '\\$[A-Za-z_]{0,40}\\$', kind: 'string', close: (open) => open },
    { ...SINGLE, hasEscapes: false, isInLine: false },
  ],
  declarations: [
    /^[ \t]*create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:(?:global|local|temporary|temp|unlogged|unique|external|virtual|materialized|recursive|constraint|definer[ \t]*=[ \t]*\S{1,80})[ \t]+){0,4}(?:table|view|function|procedure|trigger|index|type|schema|sequence|domain|database|package|role|event|extension)[ \t]+(?:concurrently[ \t]+)?(?:if[ \t]+not[ \t]+exists[ \t]+)?["`[]?([\w.]{1,200})/gim,
  ],
  imports: [/^[ \t]*(?:\\ir?[ \t]+|@@?|source[ \t]+|\.read[ \t]+)([\w./-]{1,300})/gim],
  documented: /\n[ \t]{0,80}create\b/iy,
};

/** By essence type. */
export const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['Java', JAVA],
  ['Python', PYTHON],
  ['Go', GO],
  ['Rust', RUST],
  ['TypeScript', SCRIPT],
  ['JavaScript', SCRIPT],
  ['Ruby', RUBY],
  ['CSharp', CSHARP],
  ['Kotlin', KOTLIN],
  ['Swift', SWIFT],
  ['PHP', PHP],
  ['SQL', SQL],
]);
