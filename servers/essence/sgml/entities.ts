import { wordPairs, words } from '../word-tables.js';

/** The names ISO 8879 and HTML give to the characters U+00A0 to U+00FF, in order. */
const LATIN_1 = words(
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para ' +
    'middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute ' +
    'Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml ' +
    'Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml ' +
    'eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml',
);

const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ...wordPairs(`
    amp & lt < gt > quot " apos ' ndash – mdash — lsquo ‘ rsquo ’ ldquo “ rdquo ” bull • hellip … trade ™
    euro € num # dollar $ percnt % lsqb [ rsqb ] lcub { rcub } lowbar _ bsol \\ sol / commat @ ast *
    verbar | hyphen -
  `),
]);

/** Returns the character of an ISO or HTML entity, which documents use without a declaration. */
export function namedCharacter(name: string): string | undefined {
  return NAMED.get(name);
}

/**
 * Maximum length of the declared entities that one text refers to, in characters: short references would
 * multiply the document.
 */
const MAX_EXPANDED = 1024 * 1024;

/**
 * Replaces character references and known entities. A replacement is not expanded again, so that no entity can
 * grow. Unknown entities are not changed.
 *
 * @param declared the entities that the document declares
 */
export function replaceEntities(text: string, declared: ReadonlyMap<string, string>): string {
  if (!text.includes('&')) return text;
  let expanded = 0;
  const declaredText = (name: string): string | undefined => {
    const value = expanded < MAX_EXPANDED ? declared.get(name) : undefined;
    expanded += value?.length ?? 0;
    return value;
  };
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][\w.-]{0,63}));?/g,
    (whole, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) return declaredText(name) ?? namedCharacter(name) ?? whole;
      const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
      return characterOf(code) ?? whole;
    },
  );
}

/** Returns the character of a code, if text can contain it. */
export function characterOf(code: number): string | undefined {
  if (code === 0 || code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return String.fromCodePoint(code);
}
