import { resolve } from 'node:path';
import { UsageError } from '../../../../protocols/errors.js';
import { textOfUrl, urlFields } from '../../../../protocols/soif/index.js';
import { canonicalUrl } from '../../../../protocols/urls/index.js';
import { type Annotation, AnnotationFile } from '../../../gatherer/annotate/annotation-file.js';
import { FormServer } from '../../../gatherer/annotate/form-server.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { complain, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';

interface AnnotateOptions {
  readonly port: number;
  readonly data?: string;
  readonly list: boolean;
  readonly json: boolean;
}

/** The action of `harvest annotate`. */
export async function runAnnotate(
  file: string,
  url: string | undefined,
  assignments: string[],
  options: AnnotateOptions,
): Promise<number> {
  const path = resolve(file);
  if (url !== undefined) return await annotate(path, url, assignments, options);
  return options.list ? await list(path, options) : await serve(path, options);
}

async function annotate(
  path: string,
  typedUrl: string,
  assignments: readonly string[],
  options: AnnotateOptions,
): Promise<number> {
  const file = await AnnotationFile.open(path);
  // Summaries have the canonical form (G-57); a URL that the file already has keeps its spelling.
  const typed = file.urlOf(typedUrl);
  const url = file.get(typed) === undefined ? (canonicalUrl(typedUrl) ?? typed) : typed;
  if (assignments.length > 0) {
    file.change(url, assignments.map(parseAssignment));
    await file.save();
    return EXIT.ok;
  }
  const found = file.get(url);
  if (found === undefined) {
    complain('annotate', `${textOfUrl(url)} is not annotated`);
    return EXIT.failure;
  }
  const lines = found.attributes.map(([name, value]) => `${name}:\t${value}\n`).join('');
  await new StandardOutput().write(options.json ? jsonOf(found) : lines);
  return EXIT.ok;
}

/** Parses `Name=Value`; the value of `Name=` is undefined, which removes the attribute. */
function parseAssignment(text: string): readonly [name: string, value: string | undefined] {
  const separator = text.indexOf('=');
  if (separator < 1) throw new UsageError(`${text}: must be Attribute=Value`);
  const value = text.slice(separator + 1);
  return [text.slice(0, separator), value === '' ? undefined : value];
}

function jsonOf(annotation: Annotation): string {
  return `${JSON.stringify({ ...annotation, ...urlFields(annotation.url) })}\n`;
}

async function list(path: string, { json }: AnnotateOptions): Promise<number> {
  const file = await AnnotationFile.open(path);
  const text = json ? file.list().map(jsonOf).join('') : file.bytes();
  await new StandardOutput().write(text);
  return EXIT.ok;
}

async function serve(path: string, { port, data }: AnnotateOptions): Promise<number> {
  await using server = await FormServer.listen({
    file: path,
    port,
    dataDirectory: data === undefined ? undefined : resolve(data),
  });
  process.stdout.write(`ready annotate=${server.url}\n`);
  await new StopSignal({ limit: { program: 'annotate' } }).stopped;
  return EXIT.ok;
}
