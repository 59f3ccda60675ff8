// The lines of NNTP replies: overviews, group status, lists of groups.
/** One line of an overview (RFC 3977 8.3): an article in the listing of a group. */
export interface OverviewLine {
  readonly number: number;
  readonly subject: string;
  readonly from: string;
  readonly date: string;
  /** With its angle brackets. */
  readonly messageId: string;
}

/** Parses one line of an overview; `undefined` for a line that does not name an article. */
export function parseOverviewLine(line: string): OverviewLine | undefined {
  const [number = '', subject = '', from = '', date = '', messageId = ''] = line.split('\t');
  if (!/^\d{1,15}$/.test(number) || !/^<[^\s<>]+>$/.test(messageId)) return undefined;
  return { number: Number(number), subject, from, date, messageId };
}

/** The reply to GROUP (RFC 3977 6.1.1): the number of articles, the lowest and the highest article number. */
export interface GroupStatus {
  readonly count: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Parses the reply to GROUP.
 * @param text of the status line after its code: `count low high name`
 */
export function parseGroupStatus(text: string): GroupStatus | undefined {
  const match = /^\s*(\d{1,15})\s+(\d{1,15})\s+(\d{1,15})/.exec(text);
  return match === null
    ? undefined
    : { count: Number(match[1]), low: Number(match[2]), high: Number(match[3]) };
}

/** Returns the name in a line of LIST ACTIVE (`name high low status`); `undefined` for any other line. */
export function parseActiveLine(line: string): string | undefined {
  return /^([^\s]+)\s+\d+\s+\d+\s+\S/.exec(line)?.[1];
}

/** Formats a time for NEWNEWS: `YYYYMMDD HHMMSS GMT`. */
export function formatNntpTime(seconds: number): string {
  const digits = new Date(seconds * 1000).toISOString().replace(/[-:]/g, '');
  return `${digits.slice(0, 8)} ${digits.slice(9, 15)} GMT`;
}
