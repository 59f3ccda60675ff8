// Converts annotation files to SOIF: `mktemplate`.
import {
  AnnotationDecoder,
  type AnnotationItem,
  type AnnotationOptions,
  type AnnotationWarning,
  encodeSoif,
} from '../../protocols/soif/index.js';

export interface TemplateOptions extends AnnotationOptions {
  /** Called for each departure from SOIF-11.1, in the order of the file. */
  readonly onWarning?: (warning: AnnotationWarning) => void;
}

/**
 * `mktemplate` (G-138): yields the SOIF objects of an annotation file (SOIF-11.1), one chunk each, in the
 * layout of SOIF-2.2.
 * @throws ProtocolError in strict mode, with rule, line and offset
 */
export async function* makeTemplates(
  chunks: AsyncIterable<Uint8Array>,
  { onWarning, ...options }: TemplateOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new AnnotationDecoder(options);
  for await (const chunk of chunks) yield* templatesOf(decoder.push(chunk), onWarning);
  yield* templatesOf(decoder.end(), onWarning);
}

function* templatesOf(
  items: readonly AnnotationItem[],
  onWarning: ((warning: AnnotationWarning) => void) | undefined,
): Generator<Uint8Array, void, undefined> {
  for (const item of items) {
    if (item.kind === 'warning') onWarning?.(item);
    else yield encodeSoif(item.object);
  }
}
