import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LANGUAGES, type Language } from '../localisation/languages.ts';
import { ApiError, catalogue, unpublished } from './catalogue.ts';
import { errorMessage, validationMessage } from './messages.ts';

type Texts = Record<string, string>;

const english: Texts = JSON.parse(readFileSync(new URL('messages/errors/en.json', import.meta.url), 'utf8'));
const names = Object.keys(catalogue) as (keyof typeof catalogue)[];
const answerable = names.filter((name) => name !== 'NO_REF');
const refs = names.map((name) => catalogue[name].ref);

test('the catalogue contains the 453 published errors in the order of their unique references', () => {
  assert.equal(names.length, 453);
  assert.equal(new Set(refs).size, 453);
  assert.deepEqual(
    refs,
    refs.toSorted((a, b) => a - b),
  );
});

test('every error has a published reference, because shipped clients treat 0 as success (34)', () => {
  const published = new Set<number>(refs);
  for (const [name, { ref }] of Object.entries(unpublished)) assert.ok(ref > 0 && published.has(ref), name);
});

test('every error has the status of a client or server error', () => {
  for (const name of names) assert.ok(catalogue[name].status >= 400 && catalogue[name].status < 600, name);
});

test('English has a sentence of at most 160 characters for every error, in the order of the catalogue', () => {
  assert.deepEqual(Object.keys(english), [...names, ...Object.keys(unpublished)]);
  for (const name of answerable) assert.match(errorMessage(name, 'en', { seconds: 5 }), /^[A-Z].{9,158}\.$/, name);
});

test('only the rate limits have a placeholder among the errors', () => {
  const withPlaceholder = names.filter((name) => english[name]!.includes('{'));
  assert.deepEqual(withPlaceholder, ['RATE_LIMITED', 'RATE_LIMITED_ENDPOINT']);
});

test('every error has a text in every language, English where only the terms are translated', () => {
  for (const language of LANGUAGES) for (const name of answerable) assert.ok(errorMessage(name, language));
  for (const language of ['ar', 'id'] as const)
    assert.equal(errorMessage('MOD_NOT_FOUND', language), english['MOD_NOT_FOUND']);
});

test('Latin American Spanish uses the texts of Spanish where it has none of its own', () => {
  assert.equal(errorMessage('MOD_NOT_FOUND', 'es-419'), errorMessage('MOD_NOT_FOUND', 'es'));
  const link = (language: Language) => validationMessage('youtube_link', language, { field: 'youtube' });
  assert.match(link('es'), /vídeos/);
  assert.match(link('es-419'), /videos/);
});

test('values replace the arguments of a message, by the plural and number rules of the language', () => {
  const longest = (language: Language, max: number) =>
    validationMessage('string_max', language, { field: 'name', max });
  assert.equal(longest('en', 1), 'The name may not be greater than 1 character.');
  assert.equal(longest('en', 50_000), 'The name may not be greater than 50,000 characters.');
  assert.equal(longest('de', 50_000), 'Das Feld name darf höchstens 50.000 Zeichen lang sein.');
});

test('a value is inserted as it is, even when it looks like a placeholder or a replacement pattern', () => {
  assert.equal(validationMessage('required', 'en', { field: '{max}$&' }), 'The {max}$& is required.');
  const long = validationMessage('string_max', 'en', { field: '{max}$&', max: 2 });
  assert.equal(long, 'The {max}$& may not be greater than 2 characters.');
});

test('an error takes its reference and status from the catalogue', () => {
  const error = new ApiError('MOD_NOT_FOUND');
  assert.deepEqual(
    [error.error, error.ref, error.status, error.message],
    ['MOD_NOT_FOUND', 15022, 404, 'MOD_NOT_FOUND'],
  );
});

test('an operation may return another status than the usual one', () => {
  assert.equal(new ApiError('GAME_NOT_FOUND', { status: 401 }).status, 401);
});

test('an error keeps its cause and its field problems', () => {
  const cause = new Error('disk full');
  const fields = [{ field: 'name', rule: 'required' }] as const;
  const error = new ApiError('VALIDATION_GENERIC', { cause, fields });
  assert.equal(error.cause, cause);
  assert.equal(error.fields, fields);
});

test('a rate limit error contains the seconds to wait', () => {
  const error = new ApiError('RATE_LIMITED', { retryAfterSeconds: 42 });
  assert.match(errorMessage(error.error, 'en', error.values), /Wait 42 seconds /);
});

test('an error that several situations share has a text that is true of all of them', () => {
  const untrue = {
    USER_CONNECTION_EXISTS: /linked to a user/,
    UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS: /Sign in to the platform again and retry/,
    MULTIPART_UPLOAD_PART_RECOVERY_INCOMPLETE: /not all been recovered yet/,
    GUIDE_NO_UPDATE_PERMISSION_DMCA: /cannot be edited while/,
    SUBSCRIBE_FAILED_ALREADY_SUBSCRIBED: /this mod/,
    GUIDE_NO_VIEW_PERMISSION: /permission to view this guide/,
    OPENID_GAME_NOT_SUPPORTED: /ask for it to be enabled/,
    USER_UNVERIFIED_ACCOUNTS: /This account is not verified/,
    USER_NOT_CONFIRMED: /Your account|link in the/,
  };
  for (const [name, text] of Object.entries(untrue))
    assert.doesNotMatch(errorMessage(name as keyof typeof untrue, 'en'), text, name);
});
