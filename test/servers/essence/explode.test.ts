// Exploder documents that have no objects in the end: the message names the cause.
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { createEssenceContext } from '../../../servers/essence/index.js';
import { parsePostRules } from '../../../servers/essence/rules/parse.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { contextOf, IDENTITY, inputOf } from './helpers.js';

t.test('E-46 an Exploder document without an object says why', async (t) => {
  const card = 'Title = one\nSite = a.test\nPath = pub\nFile = one\n';
  const rules = (text: string) => parsePostRules(text, 'r');
  const summarizeLsm = (body: string, text?: string) =>
    summarizeDocument(inputOf('ftp://a.test/x.lsm', body), {
      ...contextOf(),
      ...(text === undefined ? {} : { postRules: rules(text) }),
    });
  const all = "type == 'SOIFStream'\n\tdelete()\n";
  t.equal((await summarizeLsm(card)).exploded?.length, 1);
  t.same((await summarizeLsm('nothing\n')).warnings, ['there is no object in this LSM document (E-46)']);
  t.same((await summarizeLsm(card, all)).warnings, [
    'post-summarizing rules delete the only object of this LSM document (E-128)',
  ]);

  const directory = await temporaryDirectory(t);
  const from = async (script: string, name = 'Exploder.unnest', text = '') => {
    await writeFile(join(directory, name), script);
    await chmod(join(directory, name), 0o755);
    await writeFile(join(directory, 'byname.cf'), 'Exploder exp$\n*\n');
    const context = await createEssenceContext({
      ...IDENTITY,
      libDirectory: directory,
      programs: { directories: [directory], path: '/usr/bin:/bin' },
    });
    const { exploded, warnings } = await summarizeDocument(inputOf('ftp://a.test/x.exp', 'x'), {
      ...context,
      postRules: rules(text),
    });
    await rm(join(directory, name));
    return { exploded, warnings: warnings.map((warning) => warning.replaceAll(directory, 'D')) };
  };
  const none = { exploded: [] };
  t.match(await from('#!/bin/sh\n'), { ...none, warnings: ['D/Exploder.unnest wrote no object (E-46)'] });
  t.match(await from('#!/bin/sh\nexit 3\n'), {
    ...none,
    warnings: ['D/Exploder.unnest failed: exit status 3 (E-70)'],
  });
  const module = 'Exploder.unnest.mjs';
  t.match(await from('export function unnest() { return []; }', module), {
    ...none,
    warnings: [`D/${module} returned no object (E-46)`],
  });
  const list = (...urls: string[]): string =>
    `export const unnest = () => ${JSON.stringify(urls.map((url) => ({ url, attributes: [['Title', url]] })))};`;
  const two = list('http://b.test/1', 'http://b.test/2');
  t.same(await from(two, module, all), {
    ...none,
    warnings: ['post-summarizing rules delete all 2 objects of this Exploder document (E-128)'],
  });
  const part = await from(two, module, 'url ~ /1/\n\tdelete()\n');
  t.same([part.exploded?.length, part.warnings], [1, []], 'one of two is deleted');
  t.match(await from(list(''), module), {
    ...none,
    warnings: [/the object is left out$/, 'no object of this Exploder document has a usable URL (SOIF-2.9)'],
  });
  t.match(await from('export function unnest() { throw new Error("no"); }', module), {
    ...none,
    warnings: [`D/${module} failed: no (E-70)`],
  });
});
