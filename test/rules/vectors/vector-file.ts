// The files of vectors: their form, and reading them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../../architecture/sources.js';

const RULE = z.string().regex(/^[A-Z]+-\d+(\.\d+)*[a-z]?$/);

const INPUT = {
  name: z.string().describe('Unique in its file.'),
  rules: z.array(RULE).min(1).describe('The rules that the vector shows; specification.md has them.'),
  input: z.string().optional().describe('The bytes as UTF-8. Exactly one of input and inputBase64 is there.'),
  inputBase64: z.string().optional().describe('The bytes in base64.'),
  parameters: z.record(z.string(), z.string()).optional().describe('What the kind needs besides bytes.'),
  offset: z.number().int().nonnegative().optional().describe('The byte at fault, from 0.'),
};

const VECTOR = z.discriminatedUnion('verdict', [
  z.strictObject({
    ...INPUT,
    verdict: z.literal('valid').describe('A reader accepts it, and a writer may send it.'),
    output: z.json().describe('What a reader makes of it.'),
  }),
  z.strictObject({
    ...INPUT,
    verdict: z.literal('tolerated').describe('A reader accepts it, but no writer may send it.'),
    rule: RULE.optional().describe('The rule that it breaks.'),
    output: z.json(),
  }),
  z.strictObject({
    ...INPUT,
    verdict: z.literal('invalid').describe('A reader rejects it.'),
    rule: RULE.describe('The rule that it breaks.'),
  }),
]);

export const VECTOR_FILE = z.strictObject({
  $schema: z.literal('../../vectors.schema.json'),
  license: z.literal('CC0-1.0').describe('Anyone may use the vectors for anything.'),
  kind: z.string().describe('What the bytes are; also the name of the file.'),
  description: z.string().describe('What is read, and the form of output.'),
  vectors: z.array(VECTOR).min(1),
});

export type Vector = z.infer<typeof VECTOR>;

/** A file of vectors. */
export interface VectorFile extends z.infer<typeof VECTOR_FILE> {
  /** Its path from the root. */
  readonly file: string;
}

/** Reads a file of vectors. @param file its path from the root */
export function readVectors(file: string): VectorFile {
  return { file, ...VECTOR_FILE.parse(JSON.parse(readFileSync(join(ROOT, file), 'utf8'))) };
}

/** All files of vectors. */
export function vectorFiles(): VectorFile[] {
  return readdirSync(join(ROOT, 'protocols'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.endsWith(`${sep}vectors`))
    .map((entry) => readVectors(relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/')))
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** The bytes of a vector. */
export function bytesOfVector({ input, inputBase64 }: Vector): Buffer {
  return inputBase64 === undefined ? Buffer.from(input ?? '') : Buffer.from(inputBase64, 'base64');
}
