// Runs on one database: it tests a client of the API.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import { IntlMessageFormat } from 'intl-messageformat';
import sharp from 'sharp';
import { startApi } from '../../test/api.ts';
import { clientOf, fetchOf } from '../../test/client/fetching.ts';
import { type Ended, runHere } from '../../test/commands.ts';
import { temporaryFolder } from '../../test/temporary.ts';
import { AREAS, languagesOf, textsOf } from '../../tools/language-checks.ts';
import type { Language } from '../platform/localisation/languages.ts';
import type { Message } from './invocation/messages.ts';

const api = await startApi();
const game = await api.aGame();
const ada = await api.aUser();
const { token } = await api.as(ada);
const logo = join(temporaryFolder('logo'), 'logo.png');
await sharp({ create: { width: 640, height: 360, channels: 3, background: '#345' } }).toFile(logo);
// The commands trust the authorities of the system, to which the one of the test does not belong.
mock.method(globalThis, 'fetch', fetchOf(api));
after(() => mock.restoreAll());

const area = AREAS.find(({ name }) => name === 'commands')!;
const languages = languagesOf(area);
type Name = Message['name'];
type Element = ReturnType<IntlMessageFormat['getAst']>[number];

const patternOf = (elements: readonly Element[]): string =>
  elements
    .map((element) => {
      if (element.type === 0) return RegExp.escape(element.value);
      if (!('options' in element)) return '.+';
      return `(?:${Object.values(element.options)
        .map(({ value }) => patternOf(value))
        .join('|')})`;
    })
    .join('');
const textsIn = new Map(languages.map((language) => [language, textsOf(area, language)]));
const textIn = (language: Language, name: Name) => textsIn.get(language)![name]!;
const patterns = new Map<string, RegExp>();
/** Each text is looked for in the lines of every language, so its pattern is made once. */
function patternIn(language: Language, name: Name): RegExp {
  const key = `${language} ${name}`;
  const known = patterns.get(key);
  if (known) return known;
  const { getAst } = new IntlMessageFormat(textIn(language, name), language, undefined, { ignoreTag: true });
  const pattern = new RegExp(patternOf(getAst()));
  patterns.set(key, pattern);
  return pattern;
}
const isIn = (language: Language, name: Name, line: string) => patternIn(language, name).test(line);

/** Expects lines that have these texts in the language, and in no language that says the same differently. */
function assertTexts(language: Language, output: string, lines: readonly (readonly Name[])[]): void {
  const printed = output.trimEnd().split('\n');
  assert.equal(printed.length, lines.length, output);
  for (const [index, names] of lines.entries())
    for (const name of names) {
      const line = printed[index]!;
      const others = languages.filter((other) => textIn(other, name) !== textIn(language, name));
      assert.ok(isIn(language, name, line), `${name} is not in ${language}: ${line}`);
      assert.deepEqual(
        others.filter((other) => isIn(other, name, line)),
        [],
        `${name} is in another language than ${language}: ${line}`,
      );
    }
}

const url = `https://localhost:${api.port}`;
const target = ['--url', url, '--game', String(game.id)];
const aFolder = (files: Record<string, string>) => {
  const folder = temporaryFolder('localised');
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
};

for (const [index, language] of languages.entries()) {
  const env: NodeJS.ProcessEnv = { MODSTEAD_TOKEN: token, XDG_CONFIG_HOME: temporaryFolder('config') };
  /** Half of the languages are chosen by an option, and half by the environment. */
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    index % 2 === 0
      ? runHere([...args, '--language', language], { ...env, ...more })
      : runHere(args, { ...env, LANG: `${language.replace('-', '_')}.UTF-8`, ...more });
  const refuses = async (args: readonly string[], names: readonly Name[], more?: NodeJS.ProcessEnv) => {
    const { code, err, out } = await run(args, more);
    assert.ok(code !== 0 && out === '', `${args}: ${out}`);
    assertTexts(language, err.trimEnd().split('\n').at(-1)!, [names]);
  };

  test(`a mod is published and mirrored in ${language}`, async () => {
    const name = api.unique('castle').replaceAll(' ', '-');
    const described = { name: 'Castle', summary: 'A castle.', logo, mod: name };
    const folder = aFolder({ 'a.txt': name, 'modstead.json': JSON.stringify(described) });
    const planned = await run(['publish', folder, ...target, '--dry-run']);
    assertTexts(language, planned.err, [['packed']]);
    assertTexts(language, planned.out, [['publish_dry_run', 'plan_new', 'plan_fields', 'plan_upload']]);
    const published = await run(['publish', folder, ...target]);
    assert.equal(published.code, 0, published.err);
    const uploads = published.err.trimEnd().split('\n').length - 2;
    assertTexts(language, published.err, [['packed'], ['mod_created'], ...Array(uploads).fill(['uploaded'])]);
    assertTexts(language, published.out, [['published']]);
    const again = await run(['publish', folder, ...target, '--summary', 'A large castle.']);
    assertTexts(language, again.err, [['packed'], ['mod_edited'], ['upload_not_needed']]);

    const mirror = join(temporaryFolder('mirror'), 'mods');
    const mods = ['--mod', name, '--mod', 'nothing'];
    const dry = await run(['sync', mirror, ...target, ...mods, '--dry-run']);
    assertTexts(language, dry.out, [['mod_added'], ['mod_not_found'], ['sync_dry_run'], ['sync_summary']]);
    const synced = await run(['sync', mirror, ...target, ...mods]);
    assert.equal(synced.code, 6, synced.err);
    assertTexts(language, synced.err, [['mod_not_found']]);
    assertTexts(language, synced.out, [['mod_added'], ['mod_not_found'], ['sync_summary']]);
    const json = JSON.parse((await run(['sync', mirror, ...target, ...mods, '--json'])).out);
    assert.deepEqual([json.ok, json.exit_code, json.missing[0].code], [true, 6, 'not_found']);
    assertTexts(language, json.missing[0].reason, [['mod_not_found']]);
  });

  test(`refusals are in ${language}`, async () => {
    const folder = aFolder({ 'a.txt': 'a' });
    const described = ['--name', 'Castle', '--summary', 'A castle.', '--logo', logo];
    const full = ['publish', folder, ...target, '--mod', api.unique('castle').replaceAll(' ', '-')];
    await refuses(['publish', '--nonsense'], ['option_unknown', 'help_hint']);
    await refuses(['publish', '--json=1'], ['option_takes_no_value', 'help_hint']);
    await refuses(['publish', '--game', '1', '--game', '2'], ['option_twice', 'help_hint']);
    await refuses(['publish', folder, 'other'], ['publish_one_source', 'help_hint']);
    await refuses(['publish', folder], ['publish_needs']);
    await refuses(['publish', join(folder, 'nothing')], ['path_missing']);
    await refuses([...full, '--platform', 'amiga'], ['option_one_of']);
    await refuses([...full, '--timeout', 'long'], ['option_seconds']);
    await refuses([...full, '--metadata', 'size'], ['option_metadata']);
    await refuses([...full, '--changelog-file', join(folder, 'nothing')], ['path_unusable']);
    await refuses(['publish', folder, '--game', 'one'], ['option_id']);
    await refuses(['publish', folder, '--url', 'ftp:'], ['option_address']);
    await refuses(['publish', aFolder({ 'modstead.json': '{' })], ['manifest_not_json']);
    const wrong = { gam: 1, game: 'one', mod: 0, tags: [''], metadata: { a: 1 }, platforms: ['amiga'], url: 'ftp:' };
    await refuses(
      ['publish', aFolder({ 'modstead.json': JSON.stringify({ ...wrong, visible: 1, name: 1, dependencies: {} }) })],
      [
        'manifest_wrong',
        'manifest_field_unknown',
        'manifest_number',
        'manifest_minimum',
        'manifest_empty',
        'manifest_text_or_list',
        'manifest_one_of',
        'manifest_address',
        'manifest_switch',
        'manifest_text',
        'manifest_list',
      ],
    );
    await refuses(full, ['token_missing'], { MODSTEAD_TOKEN: '' });
    await refuses(full, ['mod_needs']);
    await refuses([...full, ...described, '--dependency', 'nothing-to-find'], ['dependency_unknown']);
    await refuses(['sync', folder], ['command_needs']);
    await refuses(['sync', folder, ...target], ['command_needs']);
    await refuses(['sync'], ['sync_one_folder', 'help_hint']);
    const own = join(temporaryFolder('own'), 'mods');
    mkdirSync(own);
    writeFileSync(join(own, 'own.txt'), '');
    await refuses(['sync', own, ...target, '--mod', '1'], ['folder_foreign', 'folder_move']);
    const summary = 'x'.repeat(5_000);
    const { fields } = JSON.parse(
      (await run([...full, '--name', 'A', '--logo', logo, '--summary', summary, '--json'])).out,
    );
    const refused = await clientOf(api, { token, language }).attempt('POST /games/{game_id}/mods', {
      game_id: game.id,
      name: 'Castle',
      summary,
      logo: new File(['x'], 'logo.png'),
    });
    assert.ok(!refused.ok);
    assert.equal(fields.summary, refused.error.fields['summary']);
  });
}
