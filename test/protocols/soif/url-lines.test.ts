// Files and outputs whose lines may be URLs. Rule: GATHERD-5.1, exact bytes.
import t from 'tap';
import { decodeUrlLines } from '../../../protocols/soif/index.js';

const decode = (text: string): string => decodeUrlLines(Buffer.from(text, 'latin1'));

t.test('GATHERD-5.1: a URL in lines that are not UTF-8 keeps its bytes', (t) => {
  t.equal(decode('http://a.test/{x}\n'), 'http://a.test/{x}\n');
  t.equal(decode('http://a.test/\xc3\xa9\n'), 'http://a.test/é\n', 'UTF-8');
  t.equal(
    decode('Gatherer-Name: caf\xe9 \x80\n<RootNodes>\n  http://a.test/\xe9\nhttp://a.test/\xe8 URL=5\n'),
    'Gatherer-Name: café €\n<RootNodes>\n  http://a.test/%E9\nhttp://a.test/%E8 URL=5\n',
    'two URLs stay two; other text is windows-1252',
  );
  t.equal(
    decode('http://a.test/\xc3\xa9\nhttp://a.test/\xe9'),
    'http://a.test/é\nhttp://a.test/%E9',
    'line by line',
  );
  t.end();
});
