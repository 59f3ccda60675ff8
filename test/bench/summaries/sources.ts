// Source files of this machine, and the names that universal-ctags finds in them.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** A programming language and where files of it may be. */
export interface SourceKind {
  readonly type: string;
  readonly suffix: string;
  readonly directories: readonly string[];
}

export const SOURCE_KINDS: readonly SourceKind[] = [
  { type: 'Python', suffix: '.py', directories: ['/usr/lib/python3.11', '/usr/lib/python3/dist-packages'] },
  { type: 'Perl', suffix: '.pm', directories: ['/usr/share/perl/5.36.0', '/usr/share/perl5'] },
  { type: 'CHeader', suffix: '.h', directories: ['/usr/include/linux', '/usr/include/x86_64-linux-gnu'] },
  { type: 'TypeScript', suffix: '.ts', directories: ['servers', 'storage', 'clients'] },
  { type: 'JavaScript', suffix: '.js', directories: ['node_modules/undici/lib', 'node_modules/htmlparser2'] },
  { type: 'Go', suffix: '.go', directories: ['/usr/local/go/src/net', '/usr/lib/go/src/net', '/root/sdk'] },
  { type: 'Rust', suffix: '.rs', directories: ['/root/.cargo/registry/src'] },
  { type: 'Ruby', suffix: '.rb', directories: ['/usr/lib/ruby', '/usr/share/ruby'] },
  { type: 'PHP', suffix: '.php', directories: ['/usr/share/php'] },
  { type: 'Java', suffix: '.java', directories: ['/tmp/java-sources', '/usr/share/doc'] },
  { type: 'Tcl', suffix: '.tcl', directories: ['/usr/share/tcltk'] },
  { type: 'ShellScript', suffix: '.sh', directories: ['/usr/share', '/usr/lib/git-core'] },
];

/** The names of classes, functions and modules of a file; empty if ctags is not installed. */
export async function namesInSource(path: string): Promise<string[]> {
  try {
    const { stdout } = await execute('ctags', ['--kinds-all=*', '-x', '--_xformat=%K %N', path]);
    const names = new Set<string>();
    for (const line of stdout.split('\n')) {
      const [, kind = '', name = ''] = /^(\w+) (\S+)$/.exec(line) ?? [];
      if (
        /^(class|function|method|interface|struct|trait|enum|module|package|func|subroutine|prototype|typedef|macro|procedure)$/.test(
          kind,
        )
      )
        if (!/^(__anon|anonymous)/.test(name)) names.add(name);
    }
    return [...names];
  } catch {
    return [];
  }
}
