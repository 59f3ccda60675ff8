// Mutants of a References Server: what it accepts, refuses and serves.
import { accepting, GOOD, KINDS, misreading, refusing, type SstpMutant } from './sstp-builders.js';

export const SSTP_REQUEST_MUTANTS: readonly SstpMutant[] = [
  refusing('the phrase matters', 'S-29', /SOMETHING/, ['request/phrase']),
  refusing('the phrase is required', 'S-29', /^SSTP\/1\.\d \d{3}\r/, ['request/no-phrase']),
  refusing('version 1.7 is refused', 'S-46', /SSTP\/1\.7/, ['request/minor-version']),
  refusing('names of headers are known in capitals only', 'S-31', /header_uri_id/, ['request/header-case']),
  misreading('blanks stay part of a value', 'S-31', /\t5 /, 'x', ['request/header-case']),
  refusing('a blank after the colon is required', 'S-31', /uri_id:1/, ['request/header-case']),
  refusing('unknown headers are refused', 'S-33', /X_Y/, ['request/unknown-header']),
  refusing('unknown headers may not come twice', 'S-33', /X_Y[\s\S]*X_Y/, ['request/unknown-header']),
  refusing('leading zeros are refused', 'S-34', /: 0+10/, ['request/leading-zeros']),
  misreading('leading zeros mean octal', 'S-34', /: 0+10/, ': 8', ['request/leading-zeros']),
  refusing('a bare LF is refused', 'S-30', /[^\r]\n/, ['request/bare-lf']),
  refusing('IDs above 2147483647 are refused', 'S-34', /4294967295/, ['request/largest-id']),
  refusing('a URL is read although there is an ID', 'R-22', /::::[\s\S]*URI_ID/, ['request/id-first']),
  accepting('a bare CR ends a line', 'S-30', /\r[^\n]/, ['refuse/bare-cr']),
  accepting('of two headers the last one counts', 'S-33', /(HEADER_URI_ID: 10\r\n){2}/, ['refuse/twice']),
  accepting('numbers above 4294967295 are read', 'S-34', /4294967296/, ['refuse/too-large']),
  accepting('a sign is read', 'S-34', /: -1/, ['refuse/negative']),
  accepting('an empty number is 0', 'S-34', /NUMRESULTS:\r/, ['refuse/no-digits']),
  accepting('a request needs no identifier', 'R-21', /^SSTP\/1\.0 081 \w+\r\n\r\n/, [
    'refuse/no-identifier',
    'fixture/f-13',
  ]),
  accepting('an ID of 0 is an ID', 'S-35', /URI_ID: 0\r\n\r\n/, ['refuse/zero']),
  accepting('user information of a URL is skipped', 'R-41', /u:p@/, ['refuse/user-information']),
  accepting('any text is a URL', 'R-23', /URL: ::::\r\n\r\n/, ['refuse/not-a-url']),
  accepting('folded lines are joined', 'S-32', /\n more/, ['refuse/folded']),
  accepting('a line without a colon is skipped', 'S-32', /HEADER_URL\r/, ['refuse/no-colon']),
  accepting('a header without a name is skipped', 'S-32', /\n: x/, ['refuse/no-name']),
  accepting('a body is skipped', 'S-37', /CONTENT_LENGTH: 1/, ['refuse/body']),
  accepting('start lines may have any length', 'S-38', /081 x{200}/, ['refuse/long-start']),
  accepting('header lines may have any length', 'S-38', /X: x{180}/, ['refuse/long-line']),
  accepting('any number of lines is read', 'S-38', /(X: y\r\n){20}/, ['refuse/many-lines']),
  accepting('URLs may have any length', 'S-38', /example\/x{150}/, ['refuse/long-url']),
  accepting('any first line is a request', 'S-47', /^hello/, ['refuse/garbage']),
  accepting('SSTP/2.0 is read as 1.0', 'S-46', /^SSTP\/2\.0/, ['request/version-2']),
  accepting('008 needs no URL', 'R-33', /^SSTP\/1\.0 008 X\r\n\r\n/, ['fixture/f-21']),
  ...['001', '006', '999'].map((code) =>
    misreading(`${code} is served`, 'S-46', new RegExp(`^SSTP/1\\.0 ${code}[\\s\\S]*`), GOOD, [
      `request/unserved-${code}`,
    ]),
  ),
  ...Object.keys(KINDS).map((code) =>
    misreading(`${code} is not served`, 'R-20', new RegExp(`^SSTP/1\\.0 ${code}`), 'SSTP/1.0 999', [
      `reply/code-${code}`,
    ]),
  ),
  misreading('008 is not served', 'R-20', /^SSTP\/1\.0 008/, 'SSTP/1.0 999', ['fixture/f-20']),
];
