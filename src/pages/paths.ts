export const SIGN_IN_PATH = '/sign-in';
export const ACCOUNT_PATH = '/account';

/** The address of the sign-in page, which leads back to a page of this site. */
export const signInAddress = (path: string): string => `${SIGN_IN_PATH}?${new URLSearchParams({ return: path })}`;

/** A path of this site and nothing that a browser could take for another one's address. */
export function ownPath(path: string | undefined): string | undefined {
  return path !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : undefined;
}
