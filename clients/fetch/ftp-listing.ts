// Parses the listing of an FTP directory piece by piece: a server can send millions of lines, or lines of
// megabytes.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type FileInfo, parseList } from 'basic-ftp';
import { ConnectionError } from '../../protocols/errors.js';

/** Files of a listing. */
export interface FtpListing {
  readonly files: readonly FileInfo[];
  /** The listing has more files or lines than are read. */
  readonly truncated: boolean;
}

/** A longer line is skipped: no file system has such names. */
const MAX_LINE = 4096;
/** No command can contain such a name. */
const UNNAMEABLE = /[\0\r](?!$)/;
/** Lines and characters that are parsed before other tasks of the event loop run. */
const SLICE_LINES = 1000;
const SLICE_LENGTH = 64 * 1024;
/**
 * Lines that are read for each file that is kept; the rest may be comments, totals and lines in other formats.
 */
const LINES_PER_FILE = 4;

/**
 * Parses a listing in the formats that basic-ftp knows. As there, the last line decides the format.
 * @param text one UTF-16 unit per byte
 * @param maxFiles files that are kept
 * @param host for errors
 * @throws ConnectionError if the format is unknown
 */
export async function parseListing(text: string, maxFiles: number, host: string): Promise<FtpListing> {
  const parseSlice = (lines: string) => parseLines(lines, host);
  const last = lastLine(text);
  if (last === '') return { files: [], truncated: false };
  const own = parseSlice(last).length;
  const files: FileInfo[] = [];
  const maxLines = Math.max(SLICE_LINES, maxFiles * LINES_PER_FILE);
  let lines = 0;
  let slice: string[] = [];
  let from = 0;
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf('\n', start);
    const end = next < 0 ? text.length : next;
    const line = end - start <= MAX_LINE ? text.slice(start, end) : '';
    if (!UNNAMEABLE.test(line)) slice.push(line);
    lines += 1;
    start = end + 1;
    const isFull = lines % SLICE_LINES === 0 || start - from >= SLICE_LENGTH;
    if (!isFull && start < text.length) continue;
    // The last line comes along for its format; what it adds is taken away.
    const parsed = parseSlice(`${slice.join('\n')}\n${last}`);
    for (const file of own === 0 ? parsed : parsed.slice(0, -own)) files.push(file);
    if (files.length > maxFiles || (lines >= maxLines && start < text.length)) {
      return { files: files.slice(0, maxFiles), truncated: true };
    }
    slice = [];
    from = start;
    await nextTurn();
  }
  return { files, truncated: false };
}

/** The last line that is neither blank nor a total. */
function lastLine(text: string): string {
  const isEntry = (line: string) =>
    line.length <= MAX_LINE && line.trim() !== '' && !line.startsWith('total');
  for (let end = text.length, lines = 0; end > 0 && lines < 100 * SLICE_LINES; lines++) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, end);
    if (isEntry(line)) return line;
    end = start - 1;
  }
  return '';
}

function parseLines(text: string, host: string): FileInfo[] {
  try {
    return parseList(text);
  } catch (error) {
    throw new ConnectionError(`${host}: the FTP directory is listed in an unknown format`, { cause: error });
  }
}
