// Media files with known metadata, made by ffmpeg and exiftool.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { words } from '../../helpers/words.js';
import type { CorpusFile } from './corpus.js';

const execute = promisify(execFile);
const TITLES = ['Installing a system', 'Установка системы', 'システムのインストール'];
const AUTHOR = 'Debian Installer Team';

/** A container or picture format. */
export interface MediaKind {
  readonly type: string;
  readonly suffix: string;
  /** Arguments of ffmpeg before the metadata; absent for pictures. */
  readonly streams?: readonly string[];
}

const SILENCE = ['-f', 'lavfi', '-i', 'anullsrc=r=44100:cl=mono', '-t', '1'];
const PICTURES = ['-f', 'lavfi', '-i', 'color=c=blue:s=64x64:r=5', '-t', '1'];

export const MEDIA: readonly MediaKind[] = [
  ...['mp3', 'm4a', 'ogg', 'opus', 'flac', 'wav', 'aiff'].map((suffix) => ({
    type: `Audio ${suffix}`,
    suffix,
    streams: SILENCE,
  })),
  ...['mp4', 'mov', 'mkv', 'webm', 'avi'].map((suffix) => ({
    type: `Video ${suffix}`,
    suffix,
    streams: PICTURES,
  })),
  ...['jpg', 'png', 'tif', 'webp', 'gif'].map((suffix) => ({ type: `Image ${suffix}`, suffix })),
];

/** Makes one file for each title; none if the programs are not installed. */
export async function makeMedia(
  { type, suffix, streams }: MediaKind,
  directory: string,
): Promise<CorpusFile[]> {
  const made: CorpusFile[] = [];
  for (const [i, title] of TITLES.entries()) {
    const path = join(directory, `media-${i}.${suffix}`);
    const tags = words`-metadata title=${title} -metadata artist=${AUTHOR}`;
    try {
      if (streams !== undefined)
        await execute('ffmpeg', [...words`-y -loglevel error ${streams}`, ...tags, path]);
      else {
        await execute('ffmpeg', ['-y', '-loglevel', 'error', ...PICTURES, '-frames:v', '1', path]);
        await execute('exiftool', [
          '-overwrite_original',
          `-XMP-dc:Title=${title}`,
          `-XMP-dc:Creator=${AUTHOR}`,
          path,
        ]);
      }
      made.push({ type, path, title, author: AUTHOR });
    } catch {
      // Not installed, or without this format.
    }
  }
  return made;
}
