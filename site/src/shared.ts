import type { Output } from '@modstead/client';
import type { Area, Texts } from '#texts';
import { page } from '$app/state';

/** The name and look that the operator gave the site. */
export interface Site {
  readonly name: string;
  readonly summary: string;
  /** The address of a picture of 128 by 128 pixels. */
  readonly icon: string | undefined;
  /** The address of a style sheet; undefined for the colours of `tokens.css`. */
  readonly style: string | undefined;
}

/** What every page has, from the layout. */
export interface Shared<More extends Area = never> {
  readonly t: Texts<More>;
  readonly language: string;
  /** Where the site is, without a path. */
  readonly origin: string;
  readonly isSandbox: boolean;
  readonly site: Site;
  /** Undefined for visitors who are not signed in. */
  readonly me: Output<'GET /me'> | undefined;
  /** The hidden field of every form of a signed-in visitor. */
  readonly formToken: string | undefined;
  /** What the visitor has not read yet. */
  readonly unread: { readonly notifications: number; readonly messages: number };
  /** The terms or the privacy policy have a version that the visitor has not agreed to. */
  readonly hasNewTerms: boolean;
  /** The game whose search the header offers. */
  readonly game?: { readonly name: string; readonly name_id: string };
}

/** Call it within `$derived`, so that it follows the page. A component of a section names the areas that the section loads. */
export const shared = <More extends Area = never>(): Shared<More> => page.data as unknown as Shared<More>;
