import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { areConfusable, confusableSkeleton, confusableWords } from './confusables.ts';
import { resemblesService } from './reserved-names.ts';

test('a name in other letters, cases, spacings or digits is confusable with the original', () => {
  for (const copy of [
    'SKYPORT',
    'ѕкуроrt',
    'Ѕкурогт',
    'Sky port',
    'S.k.y-p_o r t',
    'Ｓｋｙｐｏｒｔ',
    '𝓢𝓴𝔂𝓹𝓸𝓻𝓽',
    'Skуpоrt',
    'Skyp0rt',
    'Sky\u200bport',
    'Sky\u202eport',
    'Škýpórt',
    'ЅΚΥΡΟRΤ',
    'ꓢꓗꓬꓑꓳꓣꓔ',
    '$kyport',
  ])
    assert.ok(areConfusable('Skyport', copy), copy);
});

test('capitals are compared by their appearance, and case makes no difference within a script', () => {
  assert.ok(areConfusable('ADMIN', 'ADMIΝ'));
  assert.ok(areConfusable('admin', 'аdmіn'));
  assert.ok(areConfusable('Bill', 'BiII'));
  assert.ok(areConfusable('modern', 'modem'));
  assert.ok(areConfusable('Νίκος', 'νίκος'));
  assert.ok(areConfusable('Зима', 'зима'));
});

test('different names are not confusable, and names without letters resemble nothing', () => {
  for (const other of ['Skyports', 'Airport', 'Skypart', 'Порт']) assert.ok(!areConfusable('Skyport', other), other);
  assert.ok(!areConfusable('Hat Game', 'Nat Game'));
  assert.ok(!areConfusable('日本', '日木'));
  assert.ok(!areConfusable('…', '!?'));
  assert.ok(!areConfusable('', ''));
});

test('a skeleton contains only letters, digits and marks, whatever the text is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.match(confusableSkeleton(text), /^[\p{L}\p{M}\p{N}]*$/u);
      assert.equal(confusableWords(text).includes(''), false);
    }),
  );
});

test('words end at spaces, punctuation and changes of case, and single letters in a row form one word', () => {
  assert.deepEqual(confusableWords('SkyPort: a d m i n, team'), ['sky', 'port', 'admln', 'team']);
  assert.deepEqual(confusableWords('  '), []);
});

test('names of the service, of its site and of staff are recognised', () => {
  const taken = [
    'Modstead',
    'MODSTEAD Login',
    'Μodѕtead',
    'm0d5tead',
    'mod stead',
    'My.Modstead.App',
    'Skyport Official',
    'Оffiсiаl Launcher',
    'SkyAdmin',
    '@dmin',
    '@admin',
    'adm!n!',
    '[Support]',
    'a d m i n',
    'A-D-M-I-N',
    'Moderator',
    'Game Support',
    'Customer Support Team',
    'SystemUpdate',
    'Account Security',
    'The Mod Steads',
    'xMod Stead',
    'modsteadlogin',
    'Аdmіnіstrаtоr',
    'mods.example.com',
    'Example Launcher',
  ];
  for (const name of taken) assert.ok(resemblesService(name, 'mods.example.com'), name);
});

test('a name that staff have accepted does not make names that contain it confusable', () => {
  assert.ok(resemblesService('Admin Wars Launcher', 'localhost'));
  assert.ok(!resemblesService('Admin Wars Launcher', 'localhost', 'Admin Wars'));
  assert.ok(resemblesService('Admin Wars Admin', 'localhost', 'Admin Wars'));
  assert.ok(!resemblesService('Example Quest', 'mods.example.com', 'Example'));
});

test('names that only share letters with reserved names are free', () => {
  const free = ['Mod Manager', 'Badminton', 'Unofficial Companion', 'Supporters', 'Ecosystem', 'Examples', 'Stafford'];
  for (const name of [...free, 'Skyport', 'Mods', 'Homestead', 'Локация'])
    assert.ok(!resemblesService(name, 'mods.example.com'), name);
  assert.ok(!resemblesService('Localhost Tools', 'localhost'));
});

test('ordinary names that contain a common word of staff, of the service or of its domain are free', () => {
  const free = [
    'Life Support',
    'Solar System Companion',
    'RootBeer',
    'Square Root',
    'Staff of Ra',
    'System Shock Maps',
  ];
  for (const name of [...free, 'Mod Steadfast', 'Mod Steady Launcher', 'Security Breach Mods'])
    assert.ok(!resemblesService(name, 'mods.example.com'), name);
  assert.ok(!resemblesService('Taco Stand', 'a.co'));
  assert.ok(resemblesService('A.co Login', 'a.co'));
  assert.ok(!resemblesService('Board Games', 'mods.games.com'));
  assert.ok(resemblesService('mods.games.com', 'mods.games.com'));
});
