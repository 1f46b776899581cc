#pragma once
// libjpeg and libpng as functions that return errors. Both report errors by longjmp, which must not cross
// a Swift frame.
