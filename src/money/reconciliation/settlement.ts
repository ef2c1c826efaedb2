import { ApiError } from '../../platform/errors/catalogue.ts';
import type { MoneyRecord, OtherRecord, ProviderRecords, RecordKind } from './records.ts';

/** The columns of a settlement file that are read, under the names that its store gives them. */
export interface SettlementColumns {
  readonly reference: string;
  readonly type: string;
  readonly amount: string;
  readonly currency: string;
  readonly date: string;
}

const LINES_MAX = 200_000;
const SECOND_MS = 1_000;

const invalid = (field: string) => new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'invalid' }] });

/** The fields of `columns` as `reference=Order Number,amount=Charged Amount`; others keep their names. */
export function columnsOf(text: string): SettlementColumns {
  const columns = { reference: 'reference', type: 'type', amount: 'amount', currency: 'currency', date: 'date' };
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', column] = part.split('=').map((each) => each.trim());
    if (!Object.hasOwn(columns, name) || !column) throw invalid('columns');
    columns[name as keyof SettlementColumns] = column;
  }
  return columns;
}

/** CSV (RFC 4180) with a head; the delimiter is a comma, a semicolon or a tab. */
export function rowsOf(text: string): Record<string, string>[] {
  const head = text.replace(/^\uFEFF/, '');
  const delimiter = [',', ';', '\t'].map((each) => [head.split('\n', 1)[0]!.split(each).length, each] as const);
  const [, by] = delimiter.reduce((most, each) => (each[0] > most[0] ? each : most));
  const [names = [], ...lines] = linesOf(head, by);
  if (lines.length > LINES_MAX) throw invalid('file');
  return lines.map((cells) => Object.fromEntries(names.map((name, at) => [name.trim(), (cells[at] ?? '').trim()])));
}

function linesOf(text: string, delimiter: string): string[][] {
  const lines: string[][] = [];
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|((?!")[^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|\\r|$)`, 'y');
  let line: string[] = [];
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (!found) throw invalid('file');
    line.push(found[1] === undefined ? found[2]! : found[1].replaceAll('""', '"'));
    if (found[3] === delimiter) continue;
    if (line.some((each) => each !== '')) lines.push(line);
    line = [];
  }
  return lines;
}

/** What the words of a store mean. A fee or tax is neither; the sign of the amount decides where there is no word. */
const KINDS: readonly (readonly [RegExp, RecordKind | undefined])[] = [
  [/\b(?:fee|tax|commission|vat)\b/i, undefined],
  [/payout.?return|returned transfer/i, 'payout_return'],
  [/refund|chargeback|reversal|revoke|dispute/i, 'refund'],
  [/payout|transfer/i, 'payout'],
  [/charge|sale|purchase|payment|order/i, 'payment'],
];

function kindOf(type: string, amount: number | undefined): RecordKind | undefined {
  if (type === '') return amount !== undefined && amount < 0 ? 'refund' : 'payment';
  return KINDS.find(([words]) => words.test(type))?.[1];
}

/** An amount such as 4.99 in the smallest unit of its currency, without floating point. */
function amountOf(text: string, currency: string): number | undefined {
  if (text === '') return undefined;
  const plain = text
    .replace(/[\s']/g, '')
    .replace(/,(?=\d{3}(?:\D|$))/g, '')
    .replace(',', '.');
  const found = /^\(?([+-]?)[^\d.+-]*(\d*)(?:\.(\d*))?\)?$/.exec(plain);
  if (!found || !/\d/.test(plain)) throw invalid('file');
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: /^[A-Z]{3}$/.test(currency) ? currency : 'USD',
  }).resolvedOptions();
  const [, sign, whole = '', fraction = ''] = found;
  if (fraction.length > digits && /[1-9]/.test(fraction.slice(digits))) throw invalid('file');
  const value = Number(`${whole}${fraction.slice(0, digits).padEnd(digits, '0')}`);
  return sign === '-' || plain.startsWith('(') ? -value : value;
}

const dateOf = (text: string): number => {
  const millis = /^\d{10}$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text);
  return Number.isNaN(millis) ? 0 : Math.floor(millis / SECOND_MS);
};

/** What a store or a bank lists in its file. */
export function settlementRecords(text: string, columns: SettlementColumns): ProviderRecords {
  const records: MoneyRecord[] = [];
  const others: OtherRecord[] = [];
  const rows = rowsOf(text);
  if (rows.length > 0 && !Object.hasOwn(rows[0]!, columns.reference)) throw invalid('columns');
  for (const row of rows) {
    const currency = (row[columns.currency] ?? '').toUpperCase();
    const type = row[columns.type] ?? '';
    const amount = amountOf(row[columns.amount] ?? '', currency);
    const reference = row[columns.reference] ?? '';
    const kind = reference === '' ? undefined : kindOf(type, amount);
    if (!kind) others.push({ type: type || 'other', currency, amount: amount ?? 0 });
    else {
      const known = amount === undefined ? undefined : Math.abs(amount);
      records.push({ kind, reference, amount: known, currency, date: dateOf(row[columns.date] ?? '') });
    }
  }
  return { records, others };
}
