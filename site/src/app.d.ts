declare global {
  namespace App {
    /** What the service passes with each request; `src/platform/http/site.ts` has the same shape. */
    interface Platform {
      readonly origin: string;
      readonly environment: 'production' | 'sandbox';
      readonly isDevelopment: boolean;
      /** The language of the API's answers. */
      readonly language: string;
      readonly isSignedIn: boolean;
      readonly formToken: string;
      confirmForm(token: string | undefined): boolean;
      fetch(request: Request): Promise<Response>;
      nameRoute(id: string | null): void;
    }
    interface Error {
      message: string;
      /** The reference of an API error. */
      ref?: number;
    }
  }
}

export {};
