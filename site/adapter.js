import { writeFileSync } from 'node:fs';

/**
 * Writes what `src/platform/http/site.ts` mounts: the server, the files of the browser with compressed copies, and
 * their list. The Node adapter would add a listener, settings in the environment and a file server of its own.
 */
export default function adapter(out) {
  return {
    name: 'modstead',
    async adapt(builder) {
      builder.rimraf(out);
      const files = builder.writeClient(`${out}/client`);
      const compressed = new Set(await builder.compress(`${out}/client`));
      const server = builder.getServerDirectory();
      builder.generateServerInstance(`${server}/server.js`);
      builder.copy(server, `${out}/server`);
      const assets = files.filter((file) => !file.split('/').some((part) => part.startsWith('.')));
      const listed = assets.map((file) => [`/${file}`, compressed.has(file)]);
      writeFileSync(`${out}/assets.json`, JSON.stringify(Object.fromEntries(listed)));
      writeFileSync(`${out}/digest`, process.env.SITE_DIGEST ?? '');
    },
  };
}
