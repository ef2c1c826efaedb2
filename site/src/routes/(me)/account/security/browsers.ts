/** What a `User-Agent` says of a browser, as far as people know it by name. */
export interface KnownBrowser {
  readonly browser: string;
  readonly system: string | undefined;
}

// The order matters: most browsers name others too.
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg/, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\/|\bChromium\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const named = (list: typeof BROWSERS, userAgent: string) => list.find(([pattern]) => pattern.test(userAgent))?.[1];

export function browserOf(userAgent: string): KnownBrowser | undefined {
  const browser = named(BROWSERS, userAgent);
  return browser === undefined ? undefined : { browser, system: named(SYSTEMS, userAgent) };
}
