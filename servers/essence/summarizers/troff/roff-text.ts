import { wordSet } from '../../word-tables.js';
import { withLineFeeds } from '../text.js';
import { macroArguments, removeEscapes } from './escapes.js';

/** Requests and macros whose arguments are not text. */
const SILENT: ReadonlySet<string> = wordSet(
  'ad af am as bp br c2 cc ce cf ch cs cu da de1 di do ds dt ec el em eo ev fam fc fi fp ft hc hw hy ie if in it kern lc ' +
    'lf lg ll ls lt mc mk na ne nf nh nm nn nop nr ns nx os pc pi pl pm pn po ps rd rm rn rr rs rt shift so sp ss sv sy ta ' +
    'tc ti tr uf ul vs warn while wh substring tm ex ab hcode hla nroff pev char ftr fchar defcolor mso blm de LP PP P HP IP_ ' +
    'RS RE PD DT TE TS EQ EN KS KE KF DS DE ID LD CD BD QS QE QP XS XE XA PX 1C 2C MC TC RP Bl El Bd Ed Bk Ek Pp Lp Dd Os ' +
    'EX EE IX UC AT UE ME AE AB AU_ AI_ TL_ FS FE LG SM_ NL PT OH EH OF EF HD in ig Sm Db Rs Re Xo Xc Oo Oc Po Pc Bo Bc Qo ' +
    'Qc So Sc Do Dc Ao Ac Brc Bro Eo Ec Fo Fc Hf Tg ' +
    // -me: headers, sizes, the beginnings and ends of blocks.
    'he fo eh oh ef of sz +c (l )l (b )b (c )c (z )z (x )x (d )d (f )f (q )q tp ba hl ix xp sc th lo pa ac 1c 2c',
);

/** mdoc macros that may occur among the arguments of others. */
const MDOC_INNER: ReadonlySet<string> = wordSet(
  'Ac Ad An Ao Ap Aq Ar At Bc Bo Bq Brc Bro Brq Bsx Bt Bx Cd Cm Dc Do Dq Dv Dx Em En Er Es Ev Fa Fl Fn Ft Fx Ic In ' +
    'Li Lk Ms Mt Nm No Ns Nx Oc Oo Op Ot Ox Pa Pc Pf Po Pq Qc Ql Qo Qq Sc So Sq Sx Sy Tn Ux Va Vt Xc Xo Xr',
);
/** mdoc macros that expand to words. */
const MDOC_WORDS: ReadonlyMap<string, string> = new Map([
  ['Ux', 'UNIX'],
  ['Bx', 'BSD'],
  ['Fx', 'FreeBSD'],
  ['Nx', 'NetBSD'],
  ['Ox', 'OpenBSD'],
  ['Dx', 'DragonFly'],
  ['Bsx', 'BSD/OS'],
  ['At', 'AT&T UNIX'],
]);
/** Macros whose arguments are joined without blanks. */
const ALTERNATING = /^(?:BI|BR|IB|IR|RB|RI)$/;
/** Maximum number of lines of a definition, a formula or another skipped part; the rest is text. */
const MAX_SKIPPED = 5000;

/**
 * Extracts the text of a roff source (man, mdoc, ms, me, mm) in lines, without requests, definitions and
 * escapes.
 */
export function roffText(source: string): string {
  const out: string[] = [];
  const strings = new Map<string, string>();
  const lines = withLineFeeds(source).split('\n');
  let name = '';
  /** Matches the line that ends the skipped part. */
  let until: RegExp | undefined;
  let skipped = 0;
  let table = false;
  for (const raw of lines) {
    if (until !== undefined) {
      if (until.test(raw) || ++skipped > MAX_SKIPPED) until = undefined;
      continue;
    }
    const line = expandStrings(raw, strings);
    const macro = /^[.'][ \t]*([^\s\\]{1,20})[ \t]*(.*)$/s.exec(line);
    if (macro === null) {
      if (/^[.'][ \t]*(?:\\["#].*|\\\}.*)?$/.test(line)) continue;
      const text = removeEscapes(line);
      if (table) out.push(text.replace(/\t/g, ' ').replace(/^T[{}]\s?/, ''));
      else out.push(text);
      continue;
    }
    const [, word] = macro;
    const rest = macro[2]!.replace(/[ \t]*\\".*$/, '');
    if (word === 'if' || word === 'ie' || word === 'el') {
      const kept = conditional(word, rest);
      if (kept !== undefined) out.push(kept);
    } else if (word === 'de' || word === 'de1' || word === 'am' || word === 'ig') {
      const end = macroArguments(rest)[word === 'ig' ? 0 : 1];
      until = end === undefined ? /^[.'][ \t]*\.[ \t]*$/ : new RegExp(`^[.'][ \\t]*${escapeRegExp(end)}`);
      skipped = 0;
    } else if (word === 'EQ') {
      until = /^[.']EN/;
      skipped = 0;
    } else if (word === 'TS') {
      // The column format ends with a full stop.
      table = true;
      until = /\.\s*$/;
      skipped = MAX_SKIPPED - 50;
    } else if (word === 'TE') table = false;
    else if (word === 'ds' || word === 'as') defineString(strings, rest);
    else if (word === 'Nm' || word === 'Ex' || word === 'Rv') {
      const args = macroArguments(rest);
      const first = args.find((arg) => /^[\w.-]/.test(arg) && arg !== '-std');
      if (word === 'Nm' && name === '' && first !== undefined) name = first;
      if (word === 'Nm')
        out.push(first === undefined ? `${name} ${mdocWords(args, name)}` : mdocWords(args, name));
      else out.push(`The ${first ?? name} ${word === 'Ex' ? EXIT_TEXT : RETURN_TEXT}`);
    } else if (word === 'SH' || word === 'Sh' || word === 'NH' || word === 'TL') {
      out.push('', word === 'NH' ? '' : plainWords(rest));
    } else if (
      word === 'PP' ||
      word === 'Pp' ||
      word === 'LP' ||
      word === 'P' ||
      word === 'pp' ||
      word === 'lp'
    )
      out.push('');
    else if (!SILENT.has(word!)) out.push(macroText(word!, rest, name));
    else if (/^(?:Oo|Po|Bo|Qo|So|Do|Ao|Bro|Bk|Eo|Xo)$/.test(word!))
      out.push(mdocWords(macroArguments(rest), name));
    else if (/^(?:Oc|Pc|Bc|Qc|Sc|Dc|Ac|Brc|Xc|Fo)$/.test(word!))
      out.push(mdocWords(macroArguments(rest), name));
  }
  return out.join('\n');
}

/** The texts of mdoc's `.Ex -std` and `.Rv -std`. */
const EXIT_TEXT = 'utility exits 0 on success, and >0 if an error occurs.';
const RETURN_TEXT =
  'function returns the value 0 if successful; otherwise the value -1 is returned and the global variable errno is set to ' +
  'indicate the error.';

/** Returns the text of a macro's arguments. @param name the name of the manual page, which `.Nm` stands for */
function macroText(macro: string, rest: string, name: string): string {
  const args = macroArguments(rest);
  if (ALTERNATING.test(macro)) return args.join('');
  if (macro === 'TP' || macro === 'IP') return macro === 'IP' ? (args[0] ?? '') : '';
  if (macro === 'Xr')
    return args[1] === undefined
      ? (args[0] ?? '')
      : `${args[0]}(${args[1]}) ${mdocWords(args.slice(2), name)}`;
  if (macro === 'UR' || macro === 'MT' || macro === 'URL') return args.join(' ');
  const word = MDOC_WORDS.get(macro);
  return word === undefined ? mdocWords(args, name) : `${word} ${mdocWords(args, name)}`;
}

/** Returns the arguments without macros; no blank follows `Ns` and `Pf`. */
function mdocWords(args: readonly string[], name: string): string {
  let text = '';
  let close = false;
  args.forEach((arg, index) => {
    if (MDOC_INNER.has(arg)) {
      if (arg === 'Ns' || arg === 'Ap') close = true;
      if (arg === 'Ap') text += "'";
      const next = args[index + 1];
      const alone = next === undefined || MDOC_INNER.has(next);
      const word = arg === 'Nm' && alone ? name : MDOC_WORDS.get(arg);
      if (word !== undefined && word !== '') text += ` ${word}`;
      return;
    }
    text += close || /^[.,;:)\]]$/.test(arg) ? arg : ` ${arg}`;
    close = args[index - 1] === 'Pf';
  });
  return text.trimStart();
}

function plainWords(rest: string): string {
  return macroArguments(rest).join(' ');
}

/** `.if n .xx` and `.if t ...`: returns the text for a terminal. */
function conditional(word: string, rest: string): string | undefined {
  const found = /^(?:(!?)([nt])\s+)?(.*)$/.exec(rest)!;
  if (word !== 'el' && found[2] === undefined) return undefined;
  const applies = (found[2] !== 't') !== (found[1] === '!');
  const text = found[3]!.replace(/^\\\{\\?/, '').replace(/\\\}$/, '');
  return applies && text !== '' && !/^[.']/.test(text) && word !== 'el' ? removeEscapes(text) : undefined;
}

/** Defines a string of the document: the arguments of `.ds`. */
export function defineString(strings: Map<string, string>, rest: string): void {
  const found = /^(\S+)[ \t]+"?(.{0,500})$/.exec(rest);
  if (found !== null && strings.size < 1000) strings.set(found[1]!, removeEscapes(found[2]!));
}

/** Expands `\*x`, `\*(xx`, `\*[name]`, the document's strings. */
export function expandStrings(line: string, strings: ReadonlyMap<string, string>): string {
  if (!line.includes('\\*')) return line;
  return line.replace(
    /\\\*(?:\[([^\]]*)\]|\((..)|(.))/g,
    (all, long?: string, two?: string, one?: string) => {
      return strings.get(long ?? two ?? one ?? '') ?? all;
    },
  );
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
