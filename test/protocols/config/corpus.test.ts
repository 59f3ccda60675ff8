// Runs the parsers of URLs, robots.txt and configuration files over the stored inputs of test/fuzz/corpus.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import {
  parseBrokerConf,
  parseCollectionConf,
  parseFilter,
  parseGatherdConf,
  parseGathererConf,
} from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { parseRobots } from '../../../protocols/robots/index.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';

const corpusDirectory = fileURLToPath(new URL('test/fuzz/corpus/', import.meta.resolve('#package.json')));

function* corpus(codec: string): Generator<[name: string, text: string]> {
  for (const name of readdirSync(corpusDirectory + codec))
    yield [name, readFileSync(`${corpusDirectory}${codec}/${name}`, 'latin1')];
}

t.test('corpus: URLs have a fixed point or no canonical form', async (t) => {
  for (const [name, text] of corpus('urls')) {
    for (const line of Buffer.from(text, 'latin1').toString().split('\n')) {
      for (const base of [
        undefined,
        'http://h.example/a/b',
        'gopher://h.example/1',
        'news:x',
        'file:///a/',
      ]) {
        const url = canonicalUrl(line, base);
        if (url !== undefined) t.equal(canonicalUrl(url), url, `${name}: ${line}`);
      }
    }
  }
});

t.test('corpus: robots files are read', async (t) => {
  for (const [name, text] of corpus('robots')) {
    t.type(parseRobots(text).allowed('harvest', `/${'a'.repeat(3000)}`).allowed, 'boolean', name);
  }
});

t.test('corpus: configuration files are read or throw a ConfigError', async (t) => {
  for (const [name, text] of corpus('config')) {
    const parsers = [parseGathererConf, parseBrokerConf, parseCollectionConf, parseGatherdConf, parseFilter];
    for (const parse of parsers) {
      try {
        t.ok(parse(text, name), name);
      } catch (error) {
        t.ok(error instanceof ConfigError, `${name}: ${String(error)}`);
      }
    }
  }
});
