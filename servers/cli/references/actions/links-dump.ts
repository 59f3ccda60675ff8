import { UsageError } from '../../../../protocols/errors.js';
import {
  type DumpFormat,
  dumpDocuments,
  dumpLinks,
  dumpServers,
} from '../../../../storage/references/dump.js';
import { ReferencesReader } from '../../../../storage/references/reader.js';
import { runTool } from '../../db/run-tool.js';

type Content = (typeof CONTENTS)[number];

interface DumpOptions extends Partial<Readonly<Record<Content, boolean>>> {
  readonly data: string;
  readonly format: DumpFormat;
}

/** The action of `harvest links dump`. */
export async function printGraph({ data, format, ...chosen }: DumpOptions): Promise<number> {
  const [content = 'refs', ...more] = CONTENTS.filter((name) => chosen[name] === true);
  if (more.length > 0)
    throw new UsageError(`links dump: --${content} and --${more[0]} are mutually exclusive`);
  return await runTool('links dump', {}, async ({ output, signal }) => {
    await using reader = await ReferencesReader.openCurrent(data, { residentBytes: 0 });
    for (const piece of piecesOf(reader, content, format)) {
      signal.throwIfAborted();
      // The reader has closed the pipe.
      if (!(await output.write(piece))) return;
    }
  });
}

const CONTENTS = ['refs', 'hubs', 'documents', 'servers'] as const;

function piecesOf(
  reader: ReferencesReader,
  content: Content,
  format: DumpFormat,
): Iterable<string | Uint8Array> {
  if (content === 'documents') return dumpDocuments(reader);
  if (content === 'servers') return dumpServers(reader);
  return dumpLinks(reader, content, format);
}
