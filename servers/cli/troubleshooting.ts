import { Command } from 'commander';
import { StandardOutput } from './standard-output.js';

/**
 * What goes wrong with a Gatherer, why, and what to do (gatherer.md 14, G-169): a page of the help. Rows about systems of the
 * 1990s are left out where nothing of ours can show the symptom.
 */
export const TROUBLESHOOTING = `Troubleshooting a Gatherer. Essentially it is a WWW client: expect it to see what a simple browser sees.

Not all documents of a RootNode are gathered
    Enumeration has limits: 250 URLs, 1 host, unless the RootNode says otherwise. Raise them: URL=5000 Host=10 Depth=0. The
    default URL filter leaves images and sounds out; URL=250,/dev/null switches it off. The log's last lines say what stopped
    each RootNode.

Only a few pages come
    The site needs JavaScript, cookies or plug-ins, or robots.txt forbids the rest (harvest robots check --file FILE ...).

A Local-Mapping does not work
    The file is fetched from the server if it cannot be read, is not a regular file, or is executable; the rest of the URL is
    not unescaped (~ and %7e differ). Documents that were read locally have [L] in the log; -D20,1 shows the file names.

Own types or summarizers are ignored
    Lib-Directory does not point to your lib. Try: harvest essence --explain --type-only --libdir lib FILE

URLs differ from those in the configuration
    They are made canonical: harvest url canonical URL shows how. A tilde becomes %7e. Queries (cgi-bin) are on the stop list.

Data are not updated
    A Gatherer runs only when it is started: harvest schedule FILE prints lines for cron. Documents whose Refresh-Rate is not
    over are left alone; -force asks all the same.

A changed file is not gathered again
    It came from the disk cache: urlpurge empties it, GATHERER_CACHE_TTL shortens its life, Keep-Cache: no switches it off.

A word that is surely in a document is not found
    Summaries hold selected words. With Essence-Options: --full-text they hold all, at the price of disk space.

--full-text gives much raw data
    --full-text=raw puts the bytes into the object as they are. Use --full-text, or give the type FullText to some files only.

META words are missing
    The HTML is malformed in its head. harvest essence URL shows what is found.

No Last-Modification-Time or MD5, so a Broker finds no duplicates
    The objects come from an Exploder. Essence-Options: --fake-md5s makes MD5s for them.

Unknown host
    The name is not in DNS: nslookup HOST, /etc/resolv.conf.

Connection refused
    Nothing listens on that port of the target: the server is down, or the port in the URL is wrong.

Host is unreachable
    There is no route: the host is down, the network is cut, or a firewall stands between.

It does not work through a firewall
    HTTP-Proxy: host:port.

The database has grown odd
    It lasts between runs. Start anew: rm -rf data tmp log.* in the Gatherer's directory, after harvest kill-gatherd -d data.
`;

/** `harvest troubleshooting`: the page. */
export function troubleshootingCommand(): Command {
  return new Command('troubleshooting')
    .description('Prints what goes wrong with a Gatherer, why, and what to do.')
    .action(async () => {
      await new StandardOutput().write(TROUBLESHOOTING);
    });
}
