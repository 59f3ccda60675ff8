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
import type { MutatedSuite } from './mutant.js';

const proposed = (...names: readonly string[]) => names.map((name) => `proposed/${name}`);

const SHIPPED: readonly ClientMutant[] = [
  changing('shows nothing', 'BT-14', { output: () => '' }, ['session/plain']),
  changing(
    'leaves out an object',
    'BT-21',
    { output: (text) => text.replaceAll('http://gannet.example.org/', '') },
    ['session/plain'],
  ),
  changing('reports a failure after a transfer', 'BT-12', { status: () => 1 }, ['session/exit-status']),
  changing('reports success always', 'BT-19', { status: () => 0 }, [
    'error/status',
    'cut/in-object',
    'cut/in-group',
    'cut/in-header',
    'cut/nothing',
    'cut/reset',
    'refused/gatherer',
    'refused/no-connection',
    ...proposed('cut-in-group', 'cut-in-version'),
  ]),
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
  stopsAt(
    'UPDATE before DELETE',
    'BT-15',
    /@UPDATE \{\n[\s\S]*@DELETE \{\n(?=@FILE \{ http:\/\/stork[\s\S]*@REFRESH)/,
    ['groups/any-order'],
  ),
  stopsAt(
    'a missing group',
    'BT-15',
    /(?<=^000 - .*\n)@UPDATE \{\n@FILE \{ http:\/\/otter[\s\S]*heron[\s\S]*\}\n$/,
    ['groups/missing'],
  ),
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
  stopsAt(
    'data without 000',
    'BT-10',
    /^@DELETE \{\n\}\n\n@REFRESH \{\n\}\n\n@UPDATE \{\n@FILE[\s\S]*\}\n$/,
    ['lines/no-success'],
  ),
  stopsAt('000 after the data', 'BT-10', /^@DELETE[\s\S]*000 - Bulk transfer done\n$/, [
    'lines/success-behind',
  ]),
  stopsAt('000 between groups', 'BT-10', /000 - half/, ['lines/success-between']),
  reading('reads on after 099', 'BT-11', (text) => text.replace(/^099 - end\n/m, ''), ['lines/end']),
  reading('reads on after 499', 'BT-11', (text) => text.replace(/^499 - end\n/m, ''), ['lines/end-error']),
  reading(
    'ignores 400',
    'BT-10',
    (text) => text.replace(/^400 - .*\n/, '@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n}\n'),
    ['error/status', 'error/shown'],
  ),
  stopsAt('gzip', 'BT-13', /\x1f\x8b/, ['gzip/tolerated']),
  reading(
    'drops a transfer that breaks off',
    'BT-19',
    (text) => (text.includes('stork') && !/\}\n$/.test(text) ? '' : text),
    ['cut/keeps-objects'],
  ),
];

const PROPOSED: readonly ClientMutant[] = [
  stopsAt('a Header of four fields', 'BP-12', /126 - (?=.*\n140[\s\S]*144 - \0\0\0\x02$)/, proposed('plain')),
  stopsAt(
    'a reply without a Header',
    'BP-12',
    /(?<=^200 - \0[\s\S]{7}example broker\n)@DELETE[\s\S]*144 - \0\0\0\x02$/,
    proposed('no-header'),
  ),
  stopsAt(
    'a reply without a Trailer',
    'BP-21',
    /(?<=^200 - \0[\s\S]*\n)@DELETE[\s\S]*\}\n$/,
    proposed('no-trailer'),
  ),
  stopsAt('InfoFields in another order', 'BP-12', /141 - one/, proposed('header-order')),
  stopsAt('an extension', 'BP-13', /142 - x-unknown\n - \x32\x9f\xa1\xd2/, proposed('extension')),
  stopsAt('UPDATE in front', 'BP-15', /(?<=example broker\n)@UPDATE/, proposed('groups-any-order')),
  stopsAt('a line feed in a number', 'BP-5', /(?<=^200 - [\s\S]{7})\n/, proposed('line-feed-in-number')),
  stopsAt('another minor version', 'BP-11', /(?<=^200 - [\s\S]{7})\x07/, proposed('higher-minor')),
  stopsAt(
    'a compressed Body',
    'BP-16',
    /150 - gzip begin\n(?=[\s\S]*144 - )/,
    proposed('compressed', 'compressed-marker'),
  ),
  reading(
    'looks for the end marker',
    'BP-16',
    (text) => (/a\n151 - gzip end\nb/.test(text) ? text.slice(0, text.indexOf('151 - gzip end')) : text),
    proposed('compressed-marker'),
  ),
  stopsAt(
    'the shipped format',
    'BP-29',
    /^000 - Bulk transfer follows\n(?=@DELETE \{\n\}\n\n@REFRESH \{\n\}\n\n@UPDATE \{\n@FILE \{ http:\/\/otter)/,
    proposed('shipped'),
  ),
  reading(
    'accepts any major version',
    'BP-11',
    (text) => text.replace(/^200 - \0\0\0\x02/, '200 - \0\0\0\x01'),
    proposed('higher-major'),
  ),
  reading(
    'skips unknown codes',
    'BP-28',
    (text) => text.replace('160 - what\n', ''),
    proposed('unknown-code'),
  ),
  reading(
    'drops a reply with an unknown code after objects',
    'BP-28',
    (text) => (/\}\s*160 - what\n$/.test(text) ? '' : text),
    proposed('keeps-objects'),
  ),
  reading(
    'ignores the magic number',
    'BP-26',
    (text) => text.replace('\x32\x9f\xa1\xd3', '\x32\x9f\xa1\xd2'),
    proposed('wrong-magic'),
  ),
  reading(
    'reads strings of any length',
    'BP-27',
    (text) => text.replace(/x{60000,}/, 'x'),
    proposed('long-string'),
  ),
  reading(
    'needs no end marker',
    'BP-16',
    (text) =>
      /150 - gzip/.test(text) && !text.includes('151 - ')
        ? text.replace(/144 - [\s\S]{4}$/, '151 - gzip end\n$&')
        : text,
    proposed('no-end-marker'),
  ),
  reading(
    'ignores an ERROR',
    'BP-23',
    (text) => text.replace(/111 - \0[\s\S]*$/, '@UPDATE {\n}\n'),
    proposed('error', 'error-behind-objects'),
  ),
  reading(
    'ignores the count',
    'BP-22',
    (text) => text.replace(/144 - \0\0\x1e\x15$/, '144 - \0\0\0\x02'),
    proposed('wrong-count'),
  ),
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
