import { characterOf, namedCharacter } from './entities.js';
import type { SgmlEvents } from './reader.js';

/**
 * Reads the output of `onsgmls` and `sgmls` (E-80, E-87), line by line: `A` an attribute of the next element,
 * `(` its start, `-` text, `)` its end, `C` at the end of a correct document.
 *
 * @returns true if the output is complete: every element has ended
 */
export function readEsis(output: string, events: SgmlEvents, maxDepth: number): boolean {
  let attributes: [string, string][] = [];
  for (let index = 0; index < output.length && events.depth <= maxDepth; ) {
    let end = output.indexOf('\n', index);
    if (end < 0) end = output.length;
    const rest = output.slice(index + 1, end);
    switch (output[index]) {
      case 'A': {
        const found = /^(\S+) (?:CDATA|TOKEN|ENTITY|NOTATION|ID) (.*)$/s.exec(rest);
        if (found !== null) attributes.push([found[1]!, unescapeData(found[2]!)]);
        break;
      }
      case '(':
        events.open(rest, Object.fromEntries(attributes));
        attributes = [];
        break;
      case '-':
        events.text(unescapeData(rest));
        break;
      case ')':
        events.close();
        break;
    }
    index = end + 1;
  }
  return events.depth === 0;
}

/** Decodes `\n`, `\\`, `\|` around an SDATA entity, and the character codes `\#120;` and `\177`. */
function unescapeData(data: string): string {
  if (!data.includes('\\')) return data;
  return data.replace(
    /\\(?:\|([^\\|]*)\\\||#(\d{1,7});|([0-7]{3})|(.)|$)/gs,
    (whole, entity?: string, decimal?: string, octal?: string, sign?: string) => {
      if (entity !== undefined) return systemData(entity);
      if (decimal !== undefined) return characterOf(Number(decimal)) ?? '';
      if (octal !== undefined) return characterOf(Number.parseInt(octal, 8)) ?? '';
      if (sign === 'n') return '\n';
      return sign === undefined ? whole : sign;
    },
  );
}

/** The ISO entity sets define `[eacute]` and the like, with blanks before the bracket. */
function systemData(text: string): string {
  const name = /^\[\s*([A-Za-z][\w.-]*)\s*\]$/.exec(text)?.[1];
  return name === undefined ? text : (namedCharacter(name) ?? '');
}
