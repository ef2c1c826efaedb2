import type { CallArguments, Input, Operation } from '@modstead/client';
import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';

/** A form that makes one call with its fields. `done` names the text that the page then shows. */
export const calls =
  <Name extends Operation, Done extends string>(
    operation: Name,
    done: Done,
    inputOf: (form: FormData, event: RequestEvent) => Input<Name>,
  ) =>
  async (event: RequestEvent) => {
    const form = await event.request.formData();
    const called = await apiOf(event).attempt(operation, ...([inputOf(form, event)] as CallArguments<Name>));
    return called.ok ? { done } : refused(called.error, form);
  };

export const textOf = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
};

export const numberOf = (form: FormData, name: string): number => Number(textOf(form, name));
