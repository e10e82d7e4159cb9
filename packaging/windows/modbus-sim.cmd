@echo off
rem Starts modbus-sim with the options of this command; without any, as by a double click, it runs the demo.
"%~dp0node.exe" "%~dp0dist\main.js" %*
set code=%errorlevel%
rem A window that a double click has opened shows why the program has ended until a key is pressed.
if not %code%==0 if "%~1"=="" pause
exit /b %code%
