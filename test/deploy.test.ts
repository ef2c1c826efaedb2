// Runs on one database: it compares files with the program.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { HEAP } from '../bin/heap.mjs';
import { examineFleet } from '../src/commands/checks/fleet.ts';
import { COMMANDS } from '../src/commands/commands.ts';
import { operations } from '../src/composition/resources.ts';
import { definitions } from '../src/platform/config/settings.ts';
import { startApi } from './api.ts';

const root = new URL('..', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8');
const files = globSync('deploy/**/*', { cwd: root.pathname, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath.slice(root.pathname.length)}/${entry.name}`.replace('//', '/'));
const { version } = JSON.parse(textOf('package.json')) as { version: string };

test('every setting that deploy/ names exists', () => {
  const known = new Set<string>(Object.values(definitions).map(({ name }) => name));
  const named = files.flatMap((file) =>
    [...textOf(file).matchAll(/\bMODSTEAD_[A-Z_]+\b/g)].map(([name]) => ({ file, name })),
  );
  assert.ok(named.length > 20);
  assert.deepEqual(
    named.filter(({ name }) => !known.has(name)),
    [],
  );
});

test('images, chart and label have the version of the program', () => {
  const found = ['deploy/Dockerfile', 'deploy/compose.yaml', 'deploy/helm/modstead/Chart.yaml'].flatMap((file) =>
    [...textOf(file).matchAll(/(?:modstead:|image\.version="|^version: |^appVersion: )(\d+\.\d+\.\d+)/gm)].map(
      ([, each]) => [file, each],
    ),
  );
  assert.equal(found.length, 5);
  for (const [file, each] of found) assert.equal(each, version, file!);
});

test('ports and health addresses are those of the service, and commands exist', () => {
  const port = definitions.port.fallback;
  const all = [
    'deploy/Dockerfile',
    'deploy/Caddyfile',
    'deploy/healthcheck.mjs',
    'deploy/helm/modstead/templates/serve.yaml',
  ];
  for (const file of all) assert.match(textOf(file), new RegExp(`\\b${port}\\b`), file);
  const addresses = files.flatMap((file) => [...textOf(file).matchAll(/(?<=[\s"'`}])\/(?:healthz|readyz|metrics)\b/g)]);
  assert.ok(addresses.length >= 5);
  const paths = /\/[a-z]+z\b/g;
  for (const file of files)
    for (const [path] of textOf(file).matchAll(paths))
      assert.ok(['/healthz', '/readyz'].includes(path), `${file} ${path}`);
  const run = files.flatMap((file) => [
    ...[...textOf(file).matchAll(/modstead\.mjs ([a-z]+)/g)].map(([, name]) => name!),
    ...[...textOf(file).matchAll(/(?:args|command): \[([a-z]+)\]/g)].map(([, name]) => name!),
  ]);
  assert.ok(run.length >= 5);
  for (const name of run) assert.ok(name in COMMANDS, name);
});

test('the service is confined in each way to run it', () => {
  const hardened = ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'CapabilityBoundingSet=\n', 'SystemCallFilter='];
  for (const unit of ['modstead', 'modstead-migrate', 'modstead-litestream', 'modstead-backup'])
    for (const line of hardened) assert.ok(textOf(`deploy/systemd/${unit}.service`).includes(line), `${unit} ${line}`);
  assert.match(textOf('deploy/compose.yaml'), /read_only: true\n {2}cap_drop: \[ALL\]/);
  assert.match(textOf('deploy/helm/modstead/templates/_names.tpl'), /readOnlyRootFilesystem: true/);
  assert.match(textOf('deploy/Dockerfile'), /^USER 10001:10001$/m);
  const users = files.filter((file) => /^USER root/m.test(textOf(file))).map((file) => basename(file));
  assert.deepEqual(users, []);
});

test('the heap is the same in each way to run the service', () => {
  for (const file of ['deploy/Dockerfile', 'deploy/systemd/modstead.service'])
    for (const [name, value] of Object.entries(HEAP))
      assert.ok(textOf(file).includes(`${name}=${value}`), `${file} ${name}`);
});

test('every metric of the alerts and the dashboard exists, and each alert has a runbook', async () => {
  const api = await startApi({ filesOnDisk: true });
  await api.request('GET', '/v1/ping');
  const { status, text } = await api.request('GET', '/metrics');
  assert.equal(status, 200, text);
  const alerts = textOf('deploy/prometheus/alerts.yaml');
  const named = [...`${alerts}${textOf('deploy/grafana/modstead.json')}`.matchAll(/\b(?:modstead|process)_[a-z_]+\b/g)];
  assert.ok(named.length > 20);
  for (const [name] of named) assert.match(text, new RegExp(`^${name}[{ ]`, 'm'));
  const runbooks = [...alerts.matchAll(/runbook_url: (.+)/g)].map(([, path]) => path!);
  assert.equal(runbooks.length, [...alerts.matchAll(/- alert: /g)].length);
  for (const path of runbooks) assert.match(textOf(path), /^# .+\n\n[^#]+## Look\n[^#]+## Mend\n/, path);
  const operationsNamed = [...alerts.matchAll(/operation!~"([^"]+)"/g)].flatMap(([, names]) => names!.split('|'));
  const known = new Set([...operations.map(({ declaration }) => declaration.id), 'elsewhere']);
  for (const name of operationsNamed) assert.ok(known.has(name), name);
});

test('doctor --fleet compares services, and says which one is missing', async () => {
  const api = await startApi();
  const { domain, data } = api.app().settings;
  const settings = { ...api.app().settings, domain, data };
  const findings = await examineFleet(settings, [`https://127.0.0.1:${api.port}`, 'https://127.0.0.1:1']);
  assert.deepEqual(
    findings.map(({ ok }) => ok),
    [true, false],
  );
  assert.match(
    findings[0]!.says,
    new RegExp(`^${version.replaceAll('.', '\\.')}, ${api.apps().length} process\\(es\\), clock within`),
  );
  const twice = await examineFleet(settings, [`https://127.0.0.1:${api.port}`, `https://localhost:${api.port}`]);
  assert.deepEqual(twice.map(({ name, ok }) => [name, ok]).slice(2), [
    ['versions', true],
    ['schemas', true],
  ]);
});
