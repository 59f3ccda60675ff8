// Cases about the choice of HTTP by the first line (S-47), and about the pages of the administration (section R6).
// Without credentials they change nothing: `/clean` and `/reload` are asked for by HEAD only.
import { check, must, type Procedure } from '../case.js';
import { bytes, printable } from '../printable.js';
import { type HttpAnswer, readHttp, type SstpCase, type SstpContext } from './context.js';

/** First lines that differ little from one of HTTP. */
const ALMOST_HTTP = [
  ...[
    'GET HTTP/1.0',
    'GET  /stat HTTP/1.0',
    'GET\t/stat HTTP/1.0',
    'GET /st at HTTP/1.0',
    'GET /st\x01at HTTP/1.0',
  ],
  ...[
    'GET /stat http/1.0',
    'GET /stat HTTP/1',
    'GET /stat HTTP/1.10',
    'GET /stat HTTP/1.x',
    'GET /stat HTTP/1.0 ',
  ],
  ...['G(T /stat HTTP/1.0', 'G\xc4T /stat HTTP/1.0', '/stat HTTP/1.0', 'SSTP 081 X'],
];
/** A target so long that no line end is among the first 8192 octets. */
const ENDLESS = `GET /${'x'.repeat(8_300)}`;

/** Methods that no page has. */
const METHODS = ['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'TRACE', 'NOSUCHMETHOD', 'get'];
const UNKNOWN = ['/nowhere', '/nowhere?/stat', '/status', '/stat/x', '/STAT', '/x/stat'];
/** Requests that need credentials. */
const GUARDED = [
  'GET /stat',
  'HEAD /stat',
  'POST /stat',
  'GET /stat?x=1',
  'HEAD /clean',
  'HEAD /reload',
  'HEAD /clean?x',
];
/** Credentials that are not a user and a password. */
const MALFORMED = ['Basic', 'Basic ?', 'Basic YQ==', 'Bearer abc', 'a:b'];
/** A user and a password that no server has. */
const WRONG = `Basic ${Buffer.from('no such user:no such password').toString('base64')}`;

/** The choice of HTTP, and the pages. */
export const pageCases: readonly SstpCase[] = [
  must('pages/almost-http', 'S-47 S-39', 'project choice')
    .title('a first line that is not quite one of HTTP is answered 400 in SSTP')
    .run(async (context) => {
      for (const line of ALMOST_HTTP)
        await context.checkRefused(`${line}\r\nHost: localhost\r\n\r\n`, printable(bytes(line)));
    }),
  must('pages/long-method', 'S-47 S-39', 'project choice')
    .title('a method of 33 octets is not HTTP: it is answered 400 in SSTP')
    .run((context) => context.checkRefused(`${'A'.repeat(33)} / HTTP/1.0\r\n\r\n`, 'a method of 33 octets')),
  must('pages/choice-limit', 'S-47', 'project choice')
    .title('8192 octets without the end of a line are answered 400 in SSTP')
    .run((context) => context.checkRefused(ENDLESS, 'a first line without end')),
  must('pages/long-line', 'S-47', 'project choice')
    .title('a first line of HTTP may have 8000 octets')
    .run(async (context) => {
      await askHttp(context, `GET /${'x'.repeat(7_984)}`);
    }),
  must('pages/one-at-a-time', 'S-48 S-47', 'project choice')
    .title('HTTP that arrives octet by octet is understood')
    .within(5000)
    .run(async (context) => {
      const wire = await context.connect(false);
      await wire.sendSlowly('GET /nowhere HTTP/1.0\r\n\r\n');
      await readHttp(wire, 'HTTP octet by octet');
    }),
  must('pages/methods', 'R-46', 'project choice')
    .title('a method other than GET, HEAD and POST gets 405, on a page and elsewhere, without credentials')
    .does(
      answers,
      405,
      METHODS.flatMap((method) => [`${method} /stat`, `${method} /nowhere`]),
    ),
  must('pages/unknown', 'R-46', 'project choice')
    .title('an unknown path gets 404, without credentials')
    .does(
      answers,
      404,
      ['GET', 'HEAD', 'POST'].flatMap((method) => UNKNOWN.map((path) => `${method} ${path}`)),
    ),
  must('pages/no-credentials', 'R-44 R-45 R-46', 'seed; project choice')
    .title('the pages get 401 without credentials, and the header that asks for them')
    .run(async (context) => {
      for (const request of GUARDED) checkUnauthorized(await askHttp(context, request), request);
    }),
  must('pages/malformed-credentials', 'R-44 R-46', 'seed; project choice')
    .title('credentials that are not a user and a password get 401')
    .run(async (context) => {
      for (const value of MALFORMED) {
        const answer = await askHttp(context, 'GET /stat', `Authorization: ${value}\r\n`);
        checkUnauthorized(answer, `GET /stat with ${value}`);
      }
    }),
  must('pages/wrong-credentials', 'R-44 R-46', 'seed; project choice')
    .title('wrong credentials get 401, or 429 after many of them')
    .run(async (context) => {
      const answer = await askHttp(context, 'GET /stat', `Authorization: ${WRONG}\r\n`);
      //
      if (answer.status !== 429) checkUnauthorized(answer, 'GET /stat with wrong credentials');
    }),
];

/** Sends a request of HTTP and reads the answer. @throws Mismatch */
async function askHttp(context: SstpContext, request: string, headers = ''): Promise<HttpAnswer> {
  const wire = await context.connect();
  const length = request.startsWith('POST') ? 'Content-Length: 0\r\n' : '';
  await wire.send(`${request} HTTP/1.0\r\nHost: localhost\r\n${length}${headers}\r\n`);
  return readHttp(wire, printable(request, 60));
}

function checkUnauthorized({ status, head }: HttpAnswer, what: string): void {
  const asks = /^www-authenticate:[ \t]*Basic realm="refererd"[ \t]*\r?$/im.test(head);
  check(status === 401 && asks, `wrong answer to ${what}`, {
    expected: 'HTTP/1.0 401 ... WWW-Authenticate: Basic realm="refererd"',
    received: printable(head, 300),
  });
}

/** Sends requests of HTTP that get this status. */
function answers(status: number, requests: readonly string[]): Procedure<SstpContext> {
  return async (context) => {
    for (const request of requests) {
      const answer = await askHttp(context, request);
      check(answer.status === status, `wrong answer to ${request}`, {
        expected: `HTTP/1.0 ${status}`,
        received: printable(answer.head, 300),
      });
    }
  };
}
