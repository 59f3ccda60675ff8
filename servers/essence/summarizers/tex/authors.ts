// Lists of authors in the argument of \author.

/** What an address contains and a name does not. */
const ADDRESS =
  /\d|@|\b(?:universit|institut|depart|dept|laborator|school|college|facult|cent(?:er|re)\b|academy|inc\b|ltd\b|gmbh\b|corporation)/i;

/** Splits the argument into one part for each author: at \and, and at line ends; lines below a name that are an address are left out. */
export function authorParts(raw: string): readonly string[] {
  return raw.split(/\\(?:and|And|AND|IEEEauthorblockN)(?![A-Za-z])/).flatMap((part) => {
    const lines = part.split(/\\\\(?:\[[^\]]{0,20}\])?/);
    return lines.filter((line, index) => index === 0 || !ADDRESS.test(line));
  });
}
