import { z } from 'zod';
import { catalogue, type ErrorName } from '../src/platform/errors/catalogue.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { protocolErrorsOf } from '../src/platform/http/protocol-errors.ts';
import type { Observation } from '../src/platform/http/server.ts';
import { ReachedErrors } from './reached.ts';

/** Validates every response against its declaration: an undeclared error or a wrong shape fails the test. */
export class Observer {
  readonly reached = new ReachedErrors();
  readonly #violations: string[] = [];

  see({ operation, status, body, error }: Observation): void {
    if (error) {
      if (error.error in catalogue) this.reached.meet(error.ref);
      // Shipped clients treat 0 as success (docs/API-QUIRKS.md, 34).
      if (error.ref === 0) this.#violations.push(`${error.error} has no reference`);
      this.#checkError(operation, error.error, error.cause);
      if (status === 422 && !error.fields?.length)
        this.#violations.push(`a 422 (${error.error}) does not name the fields that are wrong`);
    } else if (operation && status !== 204) this.#checkShape(operation, body);
  }

  #checkError(operation: AnyOperation | undefined, name: ErrorName, cause: unknown): void {
    if (name === 'UNEXPECTED_OPERATION_FAILURE')
      this.#violations.push(`an unexpected error was met: ${(cause as Error)?.stack ?? cause}`);
    if (!operation || protocolErrorsOf(operation).includes(name)) return;
    if (!operation.declaration.errors.includes(name))
      this.#violations.push(`${operation.declaration.id} answered ${name}, which it does not declare`);
  }

  #checkShape(operation: AnyOperation, body: unknown): void {
    const { id, returns } = operation.declaration;
    const parsed = strict(returns.schema).safeParse(body);
    if (!parsed.success)
      this.#violations.push(`the answer of ${id} does not fit its declaration: ${z.prettifyError(parsed.error)}`);
  }

  /** Records a process warning, such as one about leaked listeners. */
  warned({ name, message }: Error): void {
    if (name !== 'ExperimentalWarning' && name !== 'DeprecationWarning') this.#violations.push(`${name}: ${message}`);
  }

  throwViolations(): void {
    const violations = this.#violations.splice(0);
    if (violations.length > 0) throw new Error(violations.join('\n'));
  }
}

const strictSchemas = new WeakMap<z.ZodType, z.ZodType>();

/** The schema with every object strict, so that undeclared fields fail too. */
function strict(schema: z.ZodType): z.ZodType {
  const known = strictSchemas.get(schema);
  if (known) return known;
  const closed = close(schema);
  strictSchemas.set(schema, closed);
  return closed;
}

function close(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject)
    return z.strictObject(
      Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, close(field as z.ZodType)])),
    );
  if (schema instanceof z.ZodArray) return z.array(close(schema.element as z.ZodType));
  if (schema instanceof z.ZodNullable) return close(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodOptional) return close(schema.unwrap() as z.ZodType).optional();
  return schema;
}
