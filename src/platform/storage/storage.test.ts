import assert from 'node:assert/strict';
import { join, relative, sep } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { isKey, requireKey, requirePrefix } from './storage.ts';

test('a key starts with a lower-case word and continues with segments of plain characters', () => {
  for (const key of ['a', 'mods', 'mods/12/File_1.0-b.zip', 'mods/...', 'mods/.hidden', 'a/b/c/d'])
    assert.equal(requireKey(key), key);
});

test('a text that could lead out of the folder is not a key', () => {
  const refused = [
    '',
    '/',
    '/etc/passwd',
    '..',
    '.',
    'a/..',
    'a/../b',
    'a/.',
    'a//b',
    'a/',
    '/a',
    'a/b\0',
    'a\\b',
    '.tmp/x',
  ];
  for (const key of [
    ...refused,
    'A/b',
    'a/b c',
    'a/ü',
    'a/b\n',
    'C:/x',
    `a/${'b'.repeat(256)}`,
    `${'a/'.repeat(600)}a`,
  ])
    assert.throws(() => requireKey(key), /not a storage key/, JSON.stringify(key));
});

test('no valid key names a path outside of the folder', () => {
  const pieces = fc.constantFrom('a', 'b1', '.', '..', '/', '\\', '\0', '~', '%2e', 'C:', '-', '_', '.tmp', '\n');
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
      (text) => {
        if (!isKey(text)) return;
        assert.equal(relative('/folder', join('/folder', text)), text.replaceAll('/', sep));
        assert.ok(!text.startsWith('.'));
      },
    ),
    { numRuns: 2000 },
  );
});

test('a prefix is empty, a key or a key with a slash', () => {
  for (const prefix of ['', 'mods', 'mods/', 'mods/1']) assert.equal(requirePrefix(prefix), prefix);
  for (const prefix of ['/', '..', 'mods//', '../']) assert.throws(() => requirePrefix(prefix));
});
