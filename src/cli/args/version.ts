/** The version that `guild --version` and the doctor tell; a tidy test keeps it equal to package.json. */
export const VERSION = '0.1.0';
