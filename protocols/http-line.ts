// Recognizes HTTP requests that arrive at a port of another protocol. A page of any site can make a browser
// send one, with lines of its own choice in the body, to every port that the browser reaches (cross-protocol
// attack).

/**
 * A method, a target and the version. A page chooses the method, too: it may be a command of the other
 * protocol.
 */
const REQUEST_LINE = /^\S+[ \t]+(?:\S+[ \t]+)?HTTP\/[0-9](?:\.[0-9]+)?[ \t\r]*$/i;

/** Headers of every browser. If a server cuts long lines, they are the first that it can recognize. */
const HEADER =
  /^(?:host|connection|user-agent|accept|accept-[a-z]+|origin|referer|cookie|content-length|content-type|sec-fetch-[a-z]+):/i;

/** Whether a line, without its end, is a request line or a header line of HTTP. */
export function isHttpLine(line: string): boolean {
  return isRequestLine(line) || HEADER.test(line);
}

/** Whether a line, without its end, is a request line of HTTP. */
export function isRequestLine(line: string): boolean {
  // Most lines are neither long nor end like this; the expression is not tried on them.
  return /http\/[0-9][.0-9]*[ \t\r]*$/i.test(line.slice(-16)) && REQUEST_LINE.test(line);
}
