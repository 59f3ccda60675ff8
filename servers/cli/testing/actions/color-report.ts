// Colors of a report in TAP on a terminal.
import { styleText } from 'node:util';
import { TerminalText } from '../../output/printable.js';

/**
 * Colors a piece of a report that begins and ends with whole lines: verdicts by their kind, the details of a
 * case dim, except those of its failure. Control characters of the peer are visible.
 */
export function colorReport(piece: string): string {
  return new TerminalText().push(Buffer.from(piece)).replace(/^.+$/gm, colorLine);
}

function colorLine(line: string): string {
  if (line.startsWith('not ok')) return styleText(line.includes(' # TODO ') ? 'yellow' : 'red', line);
  if (line.startsWith('ok') && !line.includes(' # SKIP '))
    return `${styleText('green', 'ok')}${line.slice(2)}`;
  if (line.startsWith('# ')) return styleText('bold', line);
  return /^ {2}(?:message|expected|received): | {4}- /.test(line) ? line : styleText('dim', line);
}
