import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, escapeIdentifier } from 'pg';

const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url));
/** Templates of older migrations stay until this many newer ones exist. */
const templatesMax = 4;
const ownDatabases = ['postgres', 'template0', 'template1'];

/**
 * The cluster of an earlier run, with the template databases that it made: copying it takes a tenth of the time of
 * creating one and migrating the templates.
 */
export class KeptCluster {
  readonly #folder: string;
  #templates: string[] = [];

  /** The key names everything that initdb was given. */
  constructor(key: string) {
    this.#folder = path.join(cache, `modstead-postgres-${key}`);
  }

  /** Copies the cluster and returns its password, or returns nothing where there is none. */
  copyTo(data: string): string | undefined {
    const { templates, password } = this.#read() ?? {};
    if (templates === undefined || password === undefined) return undefined;
    try {
      copy(`${this.#folder}/data/.`, data);
    } catch {
      // Another run has just replaced it.
      for (const name of fs.readdirSync(data)) fs.rmSync(path.join(data, name), { recursive: true });
      return undefined;
    }
    this.#templates = templates;
    return password;
  }

  #read(): { templates: string[]; password: string } | undefined {
    try {
      return JSON.parse(fs.readFileSync(path.join(this.#folder, 'cluster.json'), 'utf8'));
    } catch {
      return undefined;
    }
  }

  forget(): void {
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Whether the running server has templates that the kept cluster lacks; leaves nothing else in the server then. */
  async prepare(url: string): Promise<boolean> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      // Data on another disk would stay behind.
      if ((await client.query("select 1 from pg_tablespace where spcname not like 'pg\\_%'")).rowCount) return false;
      const { rows } = await client.query<{ datname: string }>('select datname from pg_database order by oid desc');
      const others = rows.map(({ datname }) => datname).filter((name) => !ownDatabases.includes(name));
      const templates = others.filter((name) => name.startsWith('template_')).slice(0, templatesMax);
      if (templates.every((name) => this.#templates.includes(name))) return false;
      for (const name of others.filter((each) => !templates.includes(each)))
        await client.query(`drop database ${escapeIdentifier(name)} with (force)`);
      this.#templates = templates;
      return true;
    } finally {
      await client.end();
    }
  }

  /** Keeps the cluster of a server that has been shut down. */
  keep(data: string, password: string): void {
    const fresh = fs.mkdtempSync(`${this.#folder}-new-`);
    const old = fs.mkdtempSync(`${this.#folder}-old-`);
    try {
      copy(data, path.join(fresh, 'data'));
      fs.writeFileSync(path.join(fresh, 'cluster.json'), JSON.stringify({ templates: this.#templates, password }));
      if (fs.existsSync(this.#folder)) fs.renameSync(this.#folder, path.join(old, 'cluster'));
      fs.renameSync(fresh, this.#folder);
    } catch {
      // Another run keeps its own at the same time.
    }
    for (const folder of [fresh, old]) fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** With owners and modes: PostgreSQL refuses data that others may read. */
const copy = (from: string, to: string) => void execFileSync('cp', ['-a', from, to]);
