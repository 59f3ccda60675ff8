// The mutants of the kit's own client of bulk transfers, behind a proxy.
import { prepareBulkClient } from '../../clients/conformance/bulk-client/suite.js';
import { ownBulkClient } from '../clients/conformance/own-clients.js';
import {
  type ClientChanges,
  type ClientMutant,
  type ClientVariant,
  changedClient,
  changing,
  clientVariant,
  deliveryMutants,
  halfCloses,
  reading,
  runClientCases,
  sending,
  stopsAt,
} from './client-run.js';
import { about, type MutatedSuite } from './mutant.js';

const proposed = (...names: readonly string[]) => names.map((name) => `proposed/${name}`);

/** A transfer of no objects. */
const NO_OBJECTS = '@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n}\n';

const SHIPPED: readonly ClientMutant[] = [
  changing('shows nothing', 'BT-14', { output: () => '' }, ['session/plain']),
  ...about('BT-21', ['session/plain'], changing, {
    'leaves out an object': { output: (text) => text.replaceAll('http://gannet.example.org/', '') },
  }),
  changing('reports a failure after a transfer', 'BT-12', { status: () => 1 }, ['session/exit-status']),
  ...about(
    'BT-19',
    [
      'error/status',
      'cut/in-object',
      'cut/in-group',
      'cut/in-header',
      'cut/nothing',
      'cut/reset',
      'refused/gatherer',
      'refused/no-connection',
      ...proposed('cut-in-group', 'cut-in-version'),
    ],
    changing,
    {
      'reports success always': { status: () => 0 },
    },
  ),
  changing('is silent about errors', 'BT-10', { diagnostics: () => '' }, ['error/shown']),
  sending('sends two messages', 'BT-2', (text) => text + text, ['sent/one']),
  sending('sends an empty line first', 'BT-2', (text) => `\r\n${text}`, ['sent/one']),
  sending('sends a user message', 'BT-2', (text) => text.replace('#BULK', '#USER'), ['sent/form']),
  sending('sends no #END', 'BT-6', (text) => text.replace('#END ', ''), ['sent/form']),
  sending('sends no query', 'BT-6', (text) => text.replace(/#END .*\r\n/, '#END\r\n'), ['sent/form']),
  sending('sends a word as the time', 'BT-4', (text) => text.replace(/#SINCE \d+/i, '#SINCE yesterday'), [
    'sent/form',
  ]),
  halfCloses('BT-3'),
  sending('ends the message in LF', 'BT-3', (text) => text.replace('\r\n', '\n'), ['sent/line-end']),
  ...about('BT-15', ['groups/any-order'], stopsAt, {
    'UPDATE before DELETE': /@UPDATE \{\n[\s\S]*@DELETE \{\n(?=@FILE \{ http:\/\/stork[\s\S]*@REFRESH)/,
  }),
  ...about('BT-15', ['groups/missing'], stopsAt, {
    'a missing group': /(?<=^000 - .*\n)@UPDATE \{\n@FILE \{ http:\/\/otter[\s\S]*heron[\s\S]*\}\n$/,
  }),
  stopsAt('a group again', 'BT-15', /@DELETE \{\n@FILE \{ http:\/\/stork[\s\S]*@UPDATE/, ['groups/repeated']),
  stopsAt('groups without objects', 'BT-15', /@DELETE \{\n\}\n\n@REFRESH \{\n\}\n\n@UPDATE \{\n\}\n$/, [
    'groups/all-empty',
  ]),
  stopsAt('a group on one line', 'BT-17', /@DELETE \{ \}\n/, ['groups/one-line']),
  stopsAt('a group in lower case', 'BT-18', /@delete/, ['groups/any-case']),
  stopsAt('a group with a capital', 'BT-18', /@Refresh/, ['groups/any-case']),
  stopsAt('other white space', 'BT-18', /@DELETE\t/, ['groups/white-space']),
  stopsAt('groups that run on', 'BT-18', /@DELETE \{ \} @/, ['groups/run-on']),
  stopsAt('objects outside of groups', 'BT-20', /(?<=^000 - .*\n)@FILE/, ['objects/bare']),
  stopsAt('another type', 'BT-16', /@DOCUMENT/, ['objects/type']),
  stopsAt('a NUL', 'BT-16', /\0(?=\x80\xff)/, ['objects/binary']),
  stopsAt('a long value', 'BT-16', /x{5000}/, ['objects/large']),
  stopsAt('a line } in a value', 'BT-16', /\n\}\nb\n/, ['objects/holds-close']),
  stopsAt('a group in a value', 'BT-18', /@DELETE \{\nb\n/, ['objects/holds-group']),
  stopsAt('an object in a value', 'BT-18', /@FILE \{ http:\/\/trap\.example\.org\/\nb\n/, [
    'objects/holds-object',
  ]),
  stopsAt('499 in a value', 'BT-18', /499 - done\nb\n/, ['objects/holds-end-line']),
  stopsAt('400 in a value', 'BT-18', /400 - ERROR: trap\nb\n/, ['objects/holds-error-line']),
  ...about('BT-10', ['lines/no-success'], stopsAt, {
    'data without 000': /^@DELETE \{\n\}\n\n@REFRESH \{\n\}\n\n@UPDATE \{\n@FILE[\s\S]*\}\n$/,
  }),
  stopsAt('000 after the data', 'BT-10', /^@DELETE[\s\S]*000 - Bulk transfer done\n$/, [
    'lines/success-behind',
  ]),
  stopsAt('000 between groups', 'BT-10', /000 - half/, ['lines/success-between']),
  ...['099', '499'].flatMap((code) => [
    ...about('BT-11', [`lines/end-${code}`], reading, {
      [`reads on after ${code}`]: (text) => text.replace(`\n${code} - Sent`, '\n000 - Sent'),
      [`takes ${code} for a failure`]: (text) =>
        text.includes(`\n${code} - Sent 2 objects\n@UPDATE`) ? '400 - ERROR: no\n' : text,
      [`drops a transfer that ends with ${code}`]: (text) =>
        text.includes(`\n${code} - Sent 2 objects\n@UPDATE`) ? NO_OBJECTS : text,
    }),
  ]),
  ...about('BT-11', ['lines/end-in-group'], reading, {
    'takes 499 for the end of an open group': (text) => text.replace(/(?<=\n)499 - .*\n$/, '}\n'),
  }),
  ...about('BT-10', ['error/status', 'error/shown'], reading, {
    'ignores 400': (text) => text.replace(/^400 - .*\n/, NO_OBJECTS),
  }),
  stopsAt('gzip', 'BT-13', /\x1f\x8b/, ['gzip/tolerated']),
  ...about('BT-19', ['cut/keeps-objects'], reading, {
    'drops a transfer that breaks off': (text) => (text.includes('stork') && !/\}\n$/.test(text) ? '' : text),
  }),
];

const PROPOSED: readonly ClientMutant[] = [
  stopsAt('a Header of four fields', 'BP-12', /126 - (?=.*\n140[\s\S]*144 - \0\0\0\x02$)/, proposed('plain')),
  ...about('BP-12', proposed('no-header'), stopsAt, {
    'a reply without a Header': /(?<=^200 - \0[\s\S]{7}example broker\n)@DELETE[\s\S]*144 - \0\0\0\x02$/,
  }),
  ...about('BP-21', proposed('no-trailer'), stopsAt, {
    'a reply without a Trailer': /(?<=^200 - \0[\s\S]*\n)@DELETE[\s\S]*\}\n$/,
  }),
  stopsAt('InfoFields in another order', 'BP-12', /141 - one/, proposed('header-order')),
  stopsAt('an extension', 'BP-13', /142 - x-unknown\n - \x32\x9f\xa1\xd2/, proposed('extension')),
  stopsAt('UPDATE in front', 'BP-15', /(?<=example broker\n)@UPDATE/, proposed('groups-any-order')),
  stopsAt('a line feed in a number', 'BP-5', /(?<=^200 - [\s\S]{7})\n/, proposed('line-feed-in-number')),
  stopsAt('another minor version', 'BP-11', /(?<=^200 - [\s\S]{7})\x07/, proposed('higher-minor')),
  ...about('BP-16', proposed('compressed', 'compressed-marker'), stopsAt, {
    'a compressed Body': /150 - gzip begin\n(?=[\s\S]*144 - )/,
  }),
  ...about('BP-16', proposed('compressed-marker'), reading, {
    'looks for the end marker': (text) =>
      /a\n151 - gzip end\nb/.test(text) ? text.slice(0, text.indexOf('151 - gzip end')) : text,
  }),
  ...about('BP-29', proposed('shipped'), stopsAt, {
    'the shipped format':
      /^000 - Bulk transfer follows\n(?=@DELETE \{\n\}\n\n@REFRESH \{\n\}\n\n@UPDATE \{\n@FILE \{ http:\/\/otter)/,
  }),
  ...about('BP-11', proposed('higher-major'), reading, {
    'accepts any major version': (text) => text.replace(/^200 - \0\0\0\x02/, '200 - \0\0\0\x01'),
  }),
  ...about('BP-28', proposed('unknown-code'), reading, {
    'skips unknown codes': (text) => text.replace('160 - what\n', ''),
  }),
  ...about('BP-28', proposed('keeps-objects'), reading, {
    'drops a reply with an unknown code after objects': (text) =>
      /\}\s*160 - what\n$/.test(text) ? '' : text,
  }),
  ...about('BP-26', proposed('wrong-magic'), reading, {
    'ignores the magic number': (text) => text.replace('\x32\x9f\xa1\xd3', '\x32\x9f\xa1\xd2'),
  }),
  ...about('BP-27', proposed('long-string'), reading, {
    'reads strings of any length': (text) => text.replace(/x{60000,}/, 'x'),
  }),
  ...about('BP-16', proposed('no-end-marker'), reading, {
    'needs no end marker': (text) =>
      /150 - gzip/.test(text) && !text.includes('151 - ')
        ? text.replace(/144 - [\s\S]{4}$/, '151 - gzip end\n$&')
        : text,
  }),
  ...about('BP-23', proposed('error', 'error-behind-objects'), reading, {
    'ignores an ERROR': (text) => text.replace(/111 - \0[\s\S]*$/, '@UPDATE {\n}\n'),
  }),
  ...about('BP-22', proposed('wrong-count'), reading, {
    'ignores the count': (text) => text.replace(/144 - \0\0\x1e\x15$/, '144 - \0\0\0\x02'),
  }),
];

const VARIANTS: readonly ClientVariant[] = [
  clientVariant(
    'requests the shipped format',
    'BP-29',
    { sent: (text) => text.replace(/#interface 2 /, '') },
    ['proposed/*'],
  ),
  clientVariant(
    'sends keywords in upper case',
    'BT-2',
    { sent: (text) => text.replace(/#\w+/g, (word) => word.toUpperCase()) },
    ['proposed/*'],
  ),
  clientVariant('sends #desc too', 'BT-8', { sent: (text) => text.replace('#END', '#desc #END') }),
  clientVariant('requests everything since 1', 'BT-4', {
    sent: (text) => text.replace(/#SINCE \d+/i, '#SINCE 1'),
  }),
  clientVariant('explains more', 'BT-10', { diagnostics: (text) => `${text}\nsee the log` }),
  clientVariant('fails with another status', 'BT-19', { status: (status) => (status === 0 ? 0 : 75) }),
  clientVariant(
    'does not show deleted objects',
    'BT-21',
    { output: (text) => text.replace(/http:\/\/(?:walrus|stork)\.example\.org\//g, '') },
    ['none'],
  ),
];

export const BULK_CLIENT: MutatedSuite<ClientChanges> = {
  suite: 'bulk-client',
  slow: /^(?:.*delivery.*|refused\/no-connection|session\/keeps-open)$/,
  first: ['session/plain'],
  mutants: [
    ...SHIPPED,
    ...PROPOSED,
    ...deliveryMutants(
      { bytes: ['delivery/bytes', 'proposed/delivery-bytes'], slow: ['delivery/slow'] },
      'BT-14',
    ),
  ],
  variants: VARIANTS,
  async start() {
    return (change = () => ({}), request) => {
      let isChanged = false;
      const prepared = prepareBulkClient(changedClient(ownBulkClient(2), change, () => (isChanged = true)));
      return runClientCases(prepared, request, () => isChanged);
    };
  },
};
