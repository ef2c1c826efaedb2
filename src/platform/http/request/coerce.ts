import { z } from 'zod';
import { ApiError } from '../../errors/catalogue.ts';
import { emptyFields, type Fields, type FieldValue, isFields } from './forms.ts';
import { problems } from './problems.ts';
import { isInteger, type Literal, literalsOf, type Schema, traitsOf, unwrapped } from './schemas.ts';

export { problems } from './problems.ts';

type Value = FieldValue | undefined;
type Coerce = (value: Value) => Value;

const integerText = /^-?\d+$/;
const numberText = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const indexText = /^\d+$/;

const compiled = new WeakMap<Schema, Coerce>();

/** Converts text to the schema's types where possible; other values stay for the schema to reject. */
export function coercer(schema: z.ZodObject): (fields: Fields) => Fields {
  const coerce = coerceFor(schema);
  return (fields) => coerce(fields) as Fields;
}

const outputsOfNothing = new WeakMap<z.ZodObject, object>();

/** Coerces and validates; the ApiError names every invalid field. */
export function validate<S extends z.ZodObject>(schema: S, fields: Fields): z.output<S> {
  const isNothing = !schema.def.catchall && !Object.keys(schema.shape).some((name) => name in fields);
  const known = isNothing ? outputsOfNothing.get(schema) : undefined;
  if (known) return known as z.output<S>;
  const output = parsed(schema, fields);
  if (isNothing) outputsOfNothing.set(schema, Object.freeze(output));
  return output;
}

function parsed<S extends z.ZodObject>(schema: S, fields: Fields): z.output<S> {
  const coerced = coercer(schema)(fields);
  const result = schema.safeParse(coerced);
  if (result.success) return result.data;
  throw new ApiError('VALIDATION_GENERIC', { fields: problems(result.error, schema, coerced) });
}

/** Compiled on first use, which also allows recursive schemas. */
function coerceFor(schema: Schema): Coerce {
  const known = compiled.get(schema);
  if (known) return known;
  let coerce: Coerce | undefined;
  const lazily: Coerce = (value) => {
    coerce ??= compile(schema);
    return coerce(value);
  };
  compiled.set(schema, lazily);
  return lazily;
}

/** Forms always send their inputs, so an empty or null value for an optional field means that it is missing. */
function compile(schema: Schema): Coerce {
  const { optional, nullable, text } = traitsOf(schema);
  const coerce = compileInner(unwrapped(schema));
  return (value) => {
    if (value === undefined || (optional && value === '' && !text)) return undefined;
    if (value === null) return optional && !nullable ? undefined : null;
    return coerce(value);
  };
}

function compileInner(schema: Schema): Coerce {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return toText;
    case 'number':
      return isInteger(schema) ? toInteger : toNumber;
    case 'boolean':
      return toBoolean;
    case 'enum':
    case 'literal':
      return toOneOf(literalsOf(schema));
    case 'array':
      return toArray(() => coerceFor(def.element));
    case 'tuple':
      return toArray((index) => coerceFor(def.items[index] ?? def.rest ?? z.unknown()));
    case 'object':
      return toObject(def);
    case 'record':
      return toRecord(coerceFor(def.valueType));
    case 'union':
      return toUnion(def as z.core.$ZodDiscriminatedUnionDef);
    case 'intersection':
      return toBoth(coerceFor(def.left), coerceFor(def.right));
    default:
      return (value) => value;
  }
}

function toText(value: Value): Value {
  return typeof value === 'boolean' || Number.isFinite(value) ? String(value) : value;
}

function toInteger(value: Value): Value {
  if (typeof value !== 'string' || !integerText.test(value)) return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) + 0 : value;
}

function toNumber(value: Value): Value {
  if (typeof value !== 'string' || !numberText.test(value)) return value;
  return Number.isFinite(Number(value)) ? Number(value) + 0 : value;
}

function toBoolean(value: Value): Value {
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : undefined;
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : value;
}

function toOneOf(literals: readonly Literal[]): Coerce {
  return (value) => {
    const alike: Value[] = [value, toNumber(value), toText(value), toBoolean(value)];
    return alike.find((one) => literals.includes(one as Literal)) ?? value;
  };
}

function toArray(elementAt: (index: number) => Coerce): Coerce {
  return (value) => {
    const list = listFrom(value);
    return list ? list.map((element, index) => elementAt(index)(element) ?? null) : value;
  };
}

function listFrom(value: Value): FieldValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (value === '') return [];
  if (!isFields(value)) return value === undefined ? undefined : [value];
  const entries = Object.entries(value);
  if (!entries.every(([name]) => indexText.test(name))) return undefined;
  return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, held]) => held);
}

/** Drops fields that the schema does not name, unless it has a catchall. */
function toObject({ shape, catchall }: z.core.$ZodObjectDef): Coerce {
  const members = Object.entries(shape).map(([name, schema]) => [name, coerceFor(schema)] as const);
  const others = catchall && catchall._zod.def.type !== 'never' ? coerceFor(catchall) : undefined;
  return (value) => {
    if (!isFields(value)) return value;
    const kept = members.map(([name, coerce]) => [name, coerce(own(value, name))] as const);
    const rest = others ? Object.entries(value).filter(([name]) => !Object.hasOwn(shape, name)) : [];
    return present([...rest.map(([name, held]) => [name, others!(held)] as const), ...kept]);
  };
}

/** `a[0]=x` is parsed as a list, but a record may have numeric keys. */
function toRecord(coerce: Coerce): Coerce {
  return (value) => {
    if (!isFields(value) && !Array.isArray(value)) return value;
    return present(Object.entries(value).map(([name, held]) => [name, coerce(held)] as const));
  };
}

/** Takes the first option that validates, or the one named by the discriminator, for its messages. */
function toUnion({ options, discriminator }: z.core.$ZodDiscriminatedUnionDef): Coerce {
  const choices = options.map((option) => ({ option, coerce: coerceFor(option) }));
  return (value) => {
    const fits = choices.find(({ option, coerce }) => z.safeParse(option, coerce(value)).success);
    const named = fits ?? choices.find(({ option, coerce }) => isNamed(option, discriminator, coerce(value)));
    return named ? named.coerce(value) : value;
  };
}

function isNamed(option: Schema, discriminator: string | undefined, value: Value): boolean {
  const { def } = (unwrapped(option) as z.core.$ZodTypes)._zod;
  if (discriminator === undefined || def.type !== 'object' || !isFields(value)) return false;
  const name = def.shape[discriminator];
  return name !== undefined && z.safeParse(name, own(value, discriminator)).success;
}

function toBoth(left: Coerce, right: Coerce): Coerce {
  return (value) => {
    const [one, other] = [left(value), right(value)];
    return isFields(one) && isFields(other) ? Object.assign(emptyFields(), one, other) : right(one);
  };
}

const own = (fields: Fields, name: string): Value => (Object.hasOwn(fields, name) ? fields[name] : undefined);

function present(entries: (readonly [string, Value])[]): Fields {
  const fields = emptyFields();
  for (const [name, value] of entries) if (value !== undefined) fields[name] = value;
  return fields;
}
