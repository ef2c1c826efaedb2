import type { Field } from '#components/dashboard/fields.ts';

export const FIELDS = [
  'payload.name',
  'payload.summary',
  'payload.description',
  'payload.content',
  'payload.tags',
  'payload.version',
  'payload.changelog',
  'user.id',
  'user.username',
  'user.email_domain',
  'user.language',
  'user.country',
  'user.age_days',
  'user.level',
  'user.ip',
  'user.portals',
  'file.name',
  'file.size',
  'file.entries',
  'history.submissions',
  'history.denied',
  'history.same',
  'header.accept-language',
  'operation',
] as const;

export const OPERATORS = [
  'contains',
  'equals',
  'starts_with',
  'ends_with',
  'matches',
  'in',
  'in_network',
  'above',
  'below',
  'exists',
] as const;

export const OPERATIONS = [
  'add-mod',
  'edit-mod',
  'edit-mod-put',
  'add-modfile',
  'edit-modfile',
  'add-source-modfile',
  'add-mod-media',
  'add-mod-tags',
  'add-mod-kvp-metadata',
  'add-mod-dependencies',
  'add-guide',
  'edit-guide',
  'add-mod-comment',
  'update-mod-comment',
  'add-guide-comment',
  'update-guide-comment',
  'add-collection-comment',
  'update-collection-comment',
] as const;

export const RULE: readonly Field[] = [
  { name: 'name', kind: 'text', required: true, says: 'rule_name' },
  { name: 'verdict', kind: 'radio', options: ['deny', 'hold', 'report', 'webhook', 'allow'] },
  { name: 'message', kind: 'text', says: 'rule_message' },
  { name: 'operations', kind: 'many', options: OPERATIONS },
];

export const ROWS = [0, 1, 2, 3, 4, 5] as const;

interface Comparison {
  readonly field: string;
  readonly is: string;
  readonly value: unknown;
}
export interface Simple {
  readonly join: 'all' | 'any';
  readonly rows: readonly { readonly field: string; readonly is: string; readonly value: string }[];
}

const isComparison = (value: unknown): value is Comparison =>
  typeof value === 'object' && value !== null && 'field' in value && 'is' in value;

const toText = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));

/** A condition as rows of a form, if it is a list of comparisons. */
export function simpleOf(when: unknown): Simple | undefined {
  const condition = when as Record<string, unknown> | undefined;
  if (condition === undefined) return { join: 'all', rows: [] };
  if (isComparison(condition)) return { join: 'all', rows: [{ ...condition, value: toText(condition.value) }] };
  const join = 'all' in condition ? 'all' : 'any';
  const list = condition[join];
  if (!Array.isArray(list) || list.length > ROWS.length || !list.every(isComparison)) return undefined;
  return { join, rows: list.map(({ field, is, value }) => ({ field, is, value: toText(value) })) };
}

/** The condition of a form, as JSON. */
export function conditionIn(form: FormData): string {
  const json = String(form.get('json') ?? '').trim();
  if (json !== '') return json;
  const rows = ROWS.map((row) => ({
    field: String(form.get(`field-${row}`) ?? '').trim(),
    is: String(form.get(`is-${row}`) ?? ''),
    value: String(form.get(`value-${row}`) ?? ''),
  })).filter(({ field }) => field !== '');
  const join = form.get('join') === 'any' ? 'any' : 'all';
  return JSON.stringify({ [join]: rows.map(({ field, is, value }) => ({ field, is, value: typed(is, value) })) });
}

/** The condition of a form, to be shown again: as an object, or as a text that is no JSON. */
export function sentCondition(form: FormData): { readonly when?: unknown; readonly json?: string } {
  const json = conditionIn(form);
  try {
    return { when: JSON.parse(json) };
  } catch {
    return { json };
  }
}

function typed(is: string, value: string): unknown {
  if (is === 'exists') return value.trim() !== 'false';
  if (is === 'above' || is === 'below') return Number(value);
  if (is === 'in' || is === 'in_network')
    return value
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean);
  return value;
}
