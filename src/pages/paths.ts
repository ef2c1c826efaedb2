export const SIGN_IN_PATH = '/sign-in';
export const ACCOUNT_PATH = '/account';

/** The address of the sign-in page, which returns to a path of this site. */
export const signInAddress = (path: string): string => `${SIGN_IN_PATH}?${new URLSearchParams({ return: path })}`;

/** Accepts only paths of this site, and nothing that a browser could resolve to another host. */
export function ownPath(path: string | undefined): string | undefined {
  return path !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : undefined;
}
